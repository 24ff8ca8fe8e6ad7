//! A line between a party and the coordinator that can be cut, slowed down, or be an HTTP proxy.

#![expect(clippy::disallowed_types, reason = "a test of processes")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::stage::pause;

/// What a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It carries bytes to the coordinator.
    Wire,
    /// It asks first where to, as a proxy does.
    Proxy,
}

/// A line that listens until it is dropped.
pub(crate) struct Line {
    pub(crate) port: u16,
    switch: Arc<Switch>,
}

struct Switch {
    kind: Kind,
    coordinator: u16,
    is_up: AtomicBool,
    is_over: AtomicBool,
    /// Milliseconds that every piece towards the coordinator is held back.
    delay: AtomicU64,
    open: Mutex<Vec<TcpStream>>,
    asked: Mutex<Vec<String>>,
}

#[expect(clippy::disallowed_methods, reason = "a test of processes")]
fn listen() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test of processes")]
fn connect(port: u16) -> std::io::Result<TcpStream> {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port))
}

impl Line {
    pub(crate) fn to(coordinator: u16, kind: Kind) -> Self {
        let listener = listen();
        let port = listener.local_addr().unwrap().port();
        let switch = Arc::new(Switch {
            kind,
            coordinator,
            is_up: AtomicBool::new(true),
            is_over: AtomicBool::new(false),
            delay: AtomicU64::new(0),
            open: Mutex::default(),
            asked: Mutex::default(),
        });
        let own = Arc::clone(&switch);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if own.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(client), true) = (client, own.is_up.load(Ordering::SeqCst)) else {
                    continue;
                };
                let own = Arc::clone(&own);
                // A line that breaks is what this is for.
                std::thread::spawn(move || drop(own.carry(client)));
            }
        });
        Self { port, switch }
    }

    /// Cuts every connection in the middle of whatever it says; new ones find no process.
    pub(crate) fn cut(&self) {
        self.switch.is_up.store(false, Ordering::SeqCst);
        for stream in self.switch.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn mend(&self) {
        self.switch.is_up.store(true, Ordering::SeqCst);
    }

    /// Holds back every piece towards the coordinator.
    pub(crate) fn delay(&self, by: Duration) {
        let milliseconds = u64::try_from(by.as_millis()).unwrap();
        self.switch.delay.store(milliseconds, Ordering::SeqCst);
    }

    /// Where a proxy was asked to connect to.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.switch.asked.lock().unwrap().clone()
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.switch.is_over.store(true, Ordering::SeqCst);
        self.cut();
        // Wakes the thread that listens.
        let _ = connect(self.port);
    }
}

impl Switch {
    fn carry(&self, mut client: TcpStream) -> std::io::Result<()> {
        if self.kind == Kind::Proxy {
            let mut head = BufReader::new(client.try_clone()?).lines();
            let asked = head.next().transpose()?.unwrap_or_default();
            while !head.next().transpose()?.unwrap_or_default().is_empty() {}
            self.asked.lock().unwrap().push(asked);
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        }
        let coordinator = connect(self.coordinator)?;
        let copies = [client.try_clone()?, coordinator.try_clone()?];
        self.open.lock().unwrap().extend(copies);
        let (from, to) = (coordinator.try_clone()?, client.try_clone()?);
        let back = std::thread::spawn(move || copy(from, to, || Duration::ZERO));
        let delay = || Duration::from_millis(self.delay.load(Ordering::SeqCst));
        copy(client, coordinator, delay);
        let _ = back.join();
        Ok(())
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, delay: impl Fn() -> Duration) {
    let mut piece = [0; 4096];
    while let Ok(n_bytes) = from.read(&mut piece)
        && n_bytes > 0
    {
        pause(delay());
        if to.write_all(&piece[..n_bytes]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
