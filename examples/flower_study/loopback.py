"""A whole Flower deployment on this machine: a SuperLink with TLS and SuperNodes, each with its own files.

For tests, measurements and a first look. A real deployment has the same commands on many machines.
"""

import datetime
import ipaddress
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

APP = Path(__file__).parent


class Loopback:
    """A SuperLink, and SuperNodes as they are started. Ends all of them when it is left."""

    def __init__(
        self,
        folder: Path,
        authenticate: bool = False,
        simulated: int = 0,
        node_command: tuple[str, ...] = ("flower-supernode",),
    ) -> None:
        """With `simulated` nodes the SuperLink runs Flower's simulation engine instead of SuperNodes."""
        self.folder = folder
        self.authenticate = authenticate
        self.simulated = simulated
        self.node_command = node_command
        self.address = f"127.0.0.1:{free_port()}"
        self.nodes: dict[str, subprocess.Popen] = {}
        self._link: subprocess.Popen | None = None
        folder.mkdir(parents=True)
        write_certificates(folder)
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "FLWR_HOME": str(folder / "flwr"),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.2",
        }

    def __enter__(self) -> "Loopback":
        (self.folder / "flwr").mkdir()
        certificate = json.dumps(str(self.folder / "authority.pem"))
        (self.folder / "flwr" / "config.toml").write_text(
            '[superlink]\ndefault = "loopback"\n\n[superlink.loopback]\n'
            f'address = "{self.address}"\nroot-certificates = {certificate}\n'
            + (f"options.num-supernodes = {self.simulated}\n" if self.simulated else "")
        )
        host, port = self.address.split(":")
        command = ["flower-superlink", "--host", host, "--port", port]
        command += ["--ssl-certfile", "link.pem", "--ssl-keyfile", "link.key"]
        command += ["--ssl-ca-certfile", "authority.pem"]
        command += ["--disable-runtime-dependency-installation"]
        if self.authenticate:
            command += ["--enable-supernode-auth"]
        if self.simulated:
            command += ["--simulation"]
        self._link = self._start("link", command)
        self._wait_for_link(host, int(port))
        return self

    def __exit__(self, *_) -> None:
        end(*self.nodes.values())
        if self._link is not None:
            end(self._link)

    def start_node(self, name: str, configuration: dict) -> subprocess.Popen:
        """Starts a SuperNode with this node configuration."""
        pairs = " ".join(f"{key}={json.dumps(value)}" for key, value in configuration.items())
        command = [*self.node_command, "--superlink", self.address]
        command += ["--root-certificates", "authority.pem", "--host", "127.0.0.1"]
        command += ["--port", str(free_port()), "--node-config", pairs]
        if self.authenticate:
            command += ["--auth-supernode-private-key", str(self._register(name))]
        self.nodes[name] = self._start(name, command)
        return self.nodes[name]

    def kill_node(self, name: str) -> None:
        """Ends a SuperNode and everything it started at once, as a power cut would."""
        end(self.nodes.pop(name), how=signal.SIGKILL)

    def run(self, app: Path, configuration: dict, seconds: float) -> str:
        """Runs an app to its end and returns its log."""
        pairs = " ".join(f"{key}={json.dumps(value)}" for key, value in configuration.items())
        command = ["flwr", "run", str(app), "loopback", "--run-config", pairs, "--stream"]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            check=False,
        )
        (self.folder / "run.log").write_text(done.stdout)
        return done.stdout

    def log_of(self, name: str) -> str:
        """What a process has written."""
        return (self.folder / f"{name}.log").read_text()

    def _register(self, name: str) -> Path:
        """Makes a key for a SuperNode and tells the SuperLink its public half."""
        key = ec.generate_private_key(ec.SECP384R1())
        private, public = self.folder / f"{name}.auth", self.folder / f"{name}.auth.pub"
        private.touch(mode=0o600)
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.OpenSSH,
                serialization.NoEncryption(),
            )
        )
        public.write_bytes(
            key.public_key().public_bytes(
                serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
            )
        )
        command = ["flwr", "supernode", "register", str(public), "loopback"]
        subprocess.run(
            command, cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL
        )
        return private

    def _start(self, name: str, command: list[str]) -> subprocess.Popen:
        log = (self.folder / f"{name}.log").open("w")
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _wait_for_link(self, host: str, port: int) -> None:
        for _ in range(600):
            if self._link.poll() is not None:
                raise RuntimeError(f"the SuperLink did not start:\n{self.log_of('link')}")
            with socket.socket() as probe:
                if probe.connect_ex((host, port)) == 0:
                    return
            time.sleep(0.2)
        raise RuntimeError(f"the SuperLink does not listen:\n{self.log_of('link')}")


def end(*processes: subprocess.Popen, how: signal.Signals = signal.SIGTERM) -> None:
    """Ends processes at the same time, with their children: each is a group of its own."""
    for process in processes:
        signal_group(process, how)
    for process in processes:
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            signal_group(process, signal.SIGKILL)
            process.wait()


def signal_group(process: subprocess.Popen, how: signal.Signals) -> None:
    """Sends a signal to a process and its children, if any are left."""
    try:
        os.killpg(process.pid, how)
    except ProcessLookupError:
        pass


def free_port() -> int:
    """A port on which no process listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_certificates(folder: Path) -> None:
    """An authority of its own and a certificate of the SuperLink on this machine."""
    authority = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "loopback authority")])
    root = _certificate(issuer, issuer, authority.public_key())
    root = root.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    root = root.add_extension(_authority_usage(), critical=True)
    link = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    leaf = _certificate(subject, issuer, link.public_key())
    leaf = leaf.add_extension(x509.SubjectAlternativeName(names), critical=False)
    for name, builder in [("authority.pem", root), ("link.pem", leaf)]:
        signed = builder.sign(authority, hashes.SHA256())
        (folder / name).write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    (folder / "link.key").touch(mode=0o600)
    (folder / "link.key").write_bytes(
        link.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def _certificate(subject, issuer, public) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
    )


def _authority_usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
