//! Sockets: peers are authenticated before HTTP is read; every step has a timeout.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tracing::{debug, warn};

use crate::error::NetError;
use crate::machine::CoordinatorMachine;
use crate::roster::Fingerprint;
use crate::server::routes::trouble;
use crate::server::{Shared, told};
use crate::wire::TroubleCode;

/// Whose certificate a connection showed: its place in the roster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) place: usize,
}

/// A bound socket, with TLS or, for the page, without.
#[derive(Debug)]
pub(super) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
}

impl Listener {
    pub(super) fn bind(address: SocketAddr, tls: Option<ServerConfig>) -> Result<Self, NetError> {
        let refused = |source| NetError::Listen {
            address: address.to_string(),
            source,
        };
        let socket = TcpListener::bind(address).map_err(refused)?;
        socket.set_nonblocking(true).map_err(refused)?;
        Ok(Self {
            address: socket.local_addr().map_err(refused)?,
            socket,
            tls: tls.map(Arc::new),
        })
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts until told to stop, then lets the requests under way end.
    pub(super) async fn serve<M: CoordinatorMachine>(
        self,
        shared: Arc<Shared<M>>,
        routes: Router,
        mut stopped: watch::Receiver<bool>,
    ) {
        let socket = match tokio::net::TcpListener::from_std(self.socket) {
            Ok(socket) => socket,
            Err(error) => {
                warn!(%error, "cannot listen");
                return;
            }
        };
        let handshakes = Arc::new(Semaphore::new(shared.limits.handshakes_at_once.max(1)));
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = accept(&socket, &handshakes) => accepted,
                Some(_) = connections.join_next() => continue,
                () = told(&mut stopped) => break,
            };
            let Some((stream, address, turn)) = accepted else {
                // Too many open files, most likely: give connections time to end.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let accepted = Accepted {
                shared: Arc::clone(&shared),
                routes: routes.clone(),
                stopped: stopped.clone(),
                address,
            };
            let tls = self.tls.clone();
            connections.spawn(async move {
                match tls {
                    Some(tls) => accepted.authenticated(stream, tls, turn).await,
                    None => {
                        drop(turn);
                        accepted.plain(stream).await;
                    }
                }
            });
        }
        drop(socket);
        while connections.join_next().await.is_some() {}
    }
}

async fn accept(
    socket: &tokio::net::TcpListener,
    handshakes: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let turn = Arc::clone(handshakes).acquire_owned().await.ok()?;
    let (stream, address) = socket.accept().await.ok()?;
    Some((stream, address, turn))
}

/// One connection.
struct Accepted<M> {
    shared: Arc<Shared<M>>,
    routes: Router,
    stopped: watch::Receiver<bool>,
    address: SocketAddr,
}

impl<M: CoordinatorMachine> Accepted<M> {
    async fn authenticated(
        self,
        stream: TcpStream,
        tls: Arc<ServerConfig>,
        turn: OwnedSemaphorePermit,
    ) {
        let _ = stream.set_nodelay(true);
        let handshake = TlsAcceptor::from(tls).accept(stream);
        let stream = match timeout(self.shared.limits.head_time, handshake).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                self.shared.metrics.handshakes_failed.count();
                warn!(address = %self.address, %error, "handshake refused");
                return;
            }
            Err(_) => {
                self.shared.metrics.handshakes_failed.count();
                warn!(address = %self.address, "handshake not complete in time");
                return;
            }
        };
        drop(turn);
        let Some(certificate) = presented(&stream) else {
            return;
        };
        let Some(place) = self.shared.roster.place_of_certificate(&certificate) else {
            self.shared.metrics.strangers.count();
            warn!(address = %self.address, %certificate, "certificate is not in the roster");
            self.turn_away(stream, certificate).await;
            return;
        };
        let seat = &self.shared.seats[place];
        let Ok(_place) = Arc::clone(&seat.connections).try_acquire_owned() else {
            warn!(party = self.shared.name(place), "too many connections");
            return;
        };
        debug!(party = self.shared.name(place), address = %self.address, "connected");
        seat.is_gone.store(false, Ordering::Relaxed);
        let routes = TowerToHyperService::new(self.routes.clone());
        let shared = Arc::clone(&self.shared);
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            shared.note_report(place);
            request.extensions_mut().insert(Peer { place });
            routes.call(request)
        });
        let ended = self.converse(stream, service).await;
        // Closed from here, for want of a question, it may be computing; closed from there, it is gone.
        let is_idle = ended.is_err_and(|error| error.is_timeout());
        seat.is_gone.store(!is_idle, Ordering::Relaxed);
    }

    async fn plain(self, stream: TcpStream) {
        let Ok(_place) = Arc::clone(&self.shared.page_places).try_acquire_owned() else {
            self.shared.metrics.page_connections_refused.count();
            warn!(address = %self.address, "too many connections to the page");
            return;
        };
        self.shared.metrics.page_connections.count();
        let routes = TowerToHyperService::new(self.routes.clone());
        let _ = self.converse(stream, routes).await;
    }

    /// Tells a stranger, once, why it is not served.
    async fn turn_away(&self, stream: TlsStream<TcpStream>, certificate: Fingerprint) {
        let service = service_fn(move |_: hyper::Request<Incoming>| {
            let reason =
                format!("the certificate {certificate} is not in the roster of this study");
            let mut answer = trouble(StatusCode::FORBIDDEN, TroubleCode::Unknown, &reason);
            let close = axum::http::HeaderValue::from_static("close");
            answer
                .headers_mut()
                .insert(axum::http::header::CONNECTION, close);
            async move { Ok::<_, std::convert::Infallible>(answer) }
        });
        let _ = self.converse(stream, service).await;
    }

    async fn converse<S, T>(&self, stream: T, service: S) -> hyper::Result<()>
    where
        T: AsyncRead + AsyncWrite + Unpin,
        S: Service<
                hyper::Request<Incoming>,
                Response = axum::response::Response,
                Error = std::convert::Infallible,
            >,
    {
        let mut stopped = self.stopped.clone();
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.shared.limits.head_time)
            .max_headers(32)
            .max_buf_size(16 << 10)
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = told(&mut stopped) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = &ended {
            debug!(address = %self.address, %error, "connection ended");
        }
        ended
    }
}

fn presented(stream: &TlsStream<TcpStream>) -> Option<Fingerprint> {
    let (_, session) = stream.get_ref();
    session
        .peer_certificates()?
        .first()
        .map(|certificate| Fingerprint::of(certificate))
}
