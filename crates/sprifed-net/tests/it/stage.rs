//! Folders, certificates and settings of one test.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sprifed_net::{
    CertificateOrder, ClientConfig, ClientEnded, ClientLoop, Ended, Fingerprint, Identity, Limits,
    NetError, PartyId, Patience, Persistence, RosterEntry, Server, ServerConfig, SqliteStore,
    issue, request_certificate,
};
use sprifed_party::StoreError;
use tokio::task::JoinHandle;

use crate::client_journal::{Journal as _, SqliteJournal};
use crate::toy::{Adding, N_SUMS, Saying};

/// One test's folder and certificates.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) folder: PathBuf,
    pub(crate) issued: Certificates,
    pub(crate) n_clients: u32,
    host: String,
}

impl Stage {
    /// A stage of its own for the test `name`.
    ///
    /// Each has a loopback address of its own, so that a server that starts again finds its port free.
    pub(crate) fn new(name: &str, n_clients: u32) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        let letters: Vec<u32> = name.bytes().map(u32::from).collect();
        let number = letters
            .iter()
            .fold(7, |sum, letter| (31 * sum + letter) % 64_000);
        let host = format!("127.1.{}.{}", number / 250, 1 + number % 250);
        let issued = certificates(&folder.join("certificates"), &host, n_clients);
        Self {
            folder,
            issued,
            n_clients,
            host,
        }
    }

    pub(crate) fn server(&self) -> ServerConfig {
        let roster = self.issued.clients.iter().zip(0..);
        ServerConfig {
            study: "adding".to_owned(),
            listen: format!("{}:0", self.host).parse().unwrap(),
            page: None,
            identity: self.issued.coordinator.clone(),
            authorities: self.issued.authority.clone(),
            roster: roster
                .map(|((_, certificate), party)| RosterEntry {
                    party: PartyId(party),
                    name: format!("client-{party}"),
                    certificate: Some(*certificate),
                })
                .collect(),
            state: self.folder.join("coordinator.sqlite"),
            artefacts: self.folder.join("coordinator"),
            cancellation: self.folder.join("cancelled"),
            patience: Patience {
                setup: Duration::from_secs(300),
                per_phase: Duration::from_secs(300),
                missing: Duration::from_secs(300),
                farewell: Duration::from_secs(60),
            },
            limits: Limits::default(),
        }
    }

    pub(crate) fn client(&self, client: u32, coordinator: SocketAddr) -> ClientConfig {
        ClientConfig {
            coordinator: format!("https://{coordinator}"),
            identity: self.issued.clients[client as usize].0.clone(),
            authorities: self.issued.authority.clone(),
            proxy: None,
            persistence: Persistence {
                first_wait: Duration::from_millis(2),
                longest_wait: Duration::from_millis(50),
                give_up_after: Some(Duration::from_secs(60)),
                spread: u64::from(client),
            },
            largest_notice: 1 << 20,
        }
    }

    /// Starts a client, with as much padding of its numbers as asked for.
    pub(crate) fn start_client(
        &self,
        client: u32,
        coordinator: SocketAddr,
        padding: usize,
    ) -> JoinHandle<Result<ClientEnded, NetError>> {
        let config = self.client(client, coordinator);
        start(config, self.opener(client, padding))
    }

    /// Opens the machine of a client.
    pub(crate) fn opener(
        &self,
        client: u32,
        padding: usize,
    ) -> impl FnOnce() -> Result<Saying, NetError> + Send + 'static {
        let (journal, folder) = self.places(client);
        move || {
            let journal = Box::new(SqliteJournal::open(&journal)?);
            Ok(Saying::new(number_of(client), padding, journal, folder))
        }
    }

    /// The journal and the folder of a client.
    pub(crate) fn places(&self, client: u32) -> (PathBuf, PathBuf) {
        let journal = self.folder.join(format!("client-{client}.sqlite"));
        (journal, self.folder.join(format!("client-{client}")))
    }

    /// Starts all clients.
    pub(crate) fn start_clients(
        &self,
        coordinator: SocketAddr,
    ) -> Vec<JoinHandle<Result<ClientEnded, NetError>>> {
        (0..self.n_clients)
            .map(|client| self.start_client(client, coordinator, 0))
            .collect()
    }

    /// That the result is the sum of what the journals of exactly these clients say.
    ///
    /// # Panics
    /// If it is not.
    pub(crate) fn check_totals(&self, clients: impl Iterator<Item = u32>) {
        let text = fs::read_to_string(self.folder.join("coordinator/totals.txt")).unwrap();
        let clients: Vec<u32> = clients.collect();
        assert_eq!(text.lines().count(), N_SUMS as usize);
        for (sum, line) in text.lines().enumerate() {
            let numbers: Vec<i64> = clients
                .iter()
                .map(|client| self.said(*client, sum))
                .collect();
            let each: Vec<String> = clients
                .iter()
                .zip(&numbers)
                .map(|(client, number)| format!("{client}={number}"))
                .collect();
            let total: i64 = numbers.iter().sum();
            assert_eq!(line, format!("{total} {}", each.join(" ")), "sum {sum}");
        }
    }

    /// Waits for the last of the coordinator's files, which it may still write when clients know the end.
    pub(crate) async fn until_written(&self) {
        let last = self.folder.join("coordinator/survivors.txt");
        until(|| fs::exists(&last).unwrap()).await;
    }

    /// Who answered everything.
    pub(crate) fn survivors(&self) -> String {
        fs::read_to_string(self.folder.join("coordinator/survivors.txt")).unwrap()
    }

    /// How many messages of `client` the coordinator has stored in the set-up, read while it runs.
    pub(crate) fn n_stored(&self, client: u32) -> i64 {
        self.n_stored_in(0, client)
    }

    /// How many messages of `client` the coordinator has stored in an open epoch, read while it runs.
    pub(crate) fn n_stored_in(&self, epoch: u32, client: u32) -> i64 {
        let query =
            format!("SELECT count(*) FROM events WHERE epoch = {epoch} AND party = {client}");
        count(&self.folder.join("coordinator.sqlite"), &query)
    }

    /// How many entries a client has written down, read while it runs.
    pub(crate) fn n_entries(&self, client: u32) -> i64 {
        count(&self.places(client).0, "SELECT count(*) FROM entries")
    }

    /// The one number that a client wrote down for a sum.
    fn said(&self, client: u32, sum: usize) -> i64 {
        let path = self.places(client).0;
        let entries = SqliteJournal::open(&path).unwrap().entries().unwrap();
        let numbers: Vec<i64> = entries
            .iter()
            .filter_map(|text| {
                let answer = text.strip_prefix(&format!("number {sum}|number{sum} "))?;
                answer.split(' ').next()?.parse().ok()
            })
            .collect();
        assert_eq!(
            numbers.len(),
            1,
            "client {client} wrote down one number for sum {sum}"
        );
        assert_eq!(numbers[0] % 1000, number_of(client), "client {client}");
        numbers[0]
    }
}

fn count(state: &Path, query: &str) -> i64 {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    rusqlite::Connection::open_with_flags(state, flags)
        .and_then(|state| state.query_row(query, [], |row| row.get(0)))
        .unwrap()
}

pub(crate) fn number_of(client: u32) -> i64 {
    i64::from(client) + 1
}

/// Certificates with the keys that each made for itself.
#[derive(Debug)]
pub(crate) struct Certificates {
    pub(crate) authority: PathBuf,
    pub(crate) coordinator: Identity,
    pub(crate) clients: Vec<(Identity, Fingerprint)>,
}

pub(crate) fn certificates(folder: &Path, host: &str, n_clients: u32) -> Certificates {
    let names = (0..n_clients).map(|client| format!("client-{client}"));
    let requests: Vec<_> = names
        .map(|name| (request_certificate(&name).unwrap(), name))
        .collect();
    let clients = requests
        .iter()
        .map(|((_, request), name)| (name.clone(), request.clone()));
    let issued = issue(&CertificateOrder {
        folder: folder.to_owned(),
        coordinator_hosts: vec![host.to_owned(), "localhost".to_owned()],
        clients: clients.collect(),
        valid_days: 2,
    })
    .unwrap();
    let clients = requests.iter().zip(issued.clients);
    let clients = clients.map(|(((key, _), name), (certificate, fingerprint))| {
        let path = folder.join(format!("{name}.key"));
        fs::write(&path, key.as_bytes()).unwrap();
        let key = path;
        (Identity { certificate, key }, fingerprint)
    });
    Certificates {
        authority: issued.authority,
        coordinator: issued.coordinator,
        clients: clients.collect(),
    }
}

/// Starts the client that `open` opens.
pub(crate) fn start(
    config: ClientConfig,
    open: impl FnOnce() -> Result<Saying, NetError> + Send + 'static,
) -> JoinHandle<Result<ClientEnded, NetError>> {
    tokio::spawn(async move {
        ClientLoop::open(&config, open()?)?
            .run(std::future::pending())
            .await
    })
}

/// Opens a coordinator of the toy study.
pub(crate) fn open(config: ServerConfig) -> Result<Server<Adding>, NetError> {
    let n_clients = u32::try_from(config.roster.len()).unwrap();
    Server::open(config, || Ok(Adding::new(n_clients)))
}

/// Opens the state, once no process has it: a coordinator that failed is gone, but one of its threads may
/// still be about to notice.
pub(crate) fn open_store(config: &ServerConfig) -> SqliteStore {
    loop {
        match SqliteStore::open(&config.state, &config.study) {
            Err(StoreError::InUse { .. }) => std::thread::yield_now(),
            store => return store.unwrap(),
        }
    }
}

/// Runs it until the study is over.
pub(crate) fn run(server: Server<Adding>) -> JoinHandle<Result<Ended, NetError>> {
    tokio::spawn(server.run(std::future::pending()))
}

/// Looks until it is so.
pub(crate) async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// All ended well.
pub(crate) async fn all_finish(clients: Vec<JoinHandle<Result<ClientEnded, NetError>>>) {
    for client in clients {
        let ended = client.await.unwrap().unwrap();
        assert!(
            matches!(&ended, ClientEnded::Finished(ended) if ended.success),
            "{ended:?}"
        );
    }
}
