//! The network of commands.

use super::Confined;
use super::fixture::Fixture;
use libtest_mimic::Trial;
use std::net::{TcpListener, UdpSocket};
use std::time::Duration;
use tool_runtime_builtins::Sandbox;

pub(super) fn tests(sandbox: Confined) -> [Trial; 2] {
    [
        sandbox.test("allows_the_network", the_network_is_reached),
        sandbox.test("denies_the_network_if_asked", no_network_is_reached),
    ]
}

/// Each says `reached` if it gets to a server of the test, at `TCP` or `UDP`.
const WAYS: [&str; 5] = [
    "s = socket.create_connection(('127.0.0.1', TCP), 5)",
    // Multipath TCP.
    "s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.connect(('127.0.0.1', TCP))",
    // `MSG_FASTOPEN` connects without a call of `connect`.
    "s = socket.socket(); s.sendto(b'x', 0x20000000, ('127.0.0.1', TCP))",
    "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', UDP))",
    "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
];

/// Virtual sockets reach the host of a virtual machine. Packets and Bluetooth are networks, too.
const FAMILIES: [(&str, u32); 3] = [("AF_VSOCK", 40), ("AF_PACKET", 17), ("AF_BLUETOOTH", 31)];

async fn the_network_is_reached(sandbox: Sandbox) {
    let fixture = Fixture::confined(sandbox, true);
    let servers = Servers::new();
    for way in [WAYS[0], WAYS[3]] {
        assert_eq!(servers.run(&fixture, way).await, "reached\n", "{way}");
    }
    fixture.close().await;
}

async fn no_network_is_reached(sandbox: Sandbox) {
    let fixture = Fixture::confined(sandbox, false);
    let servers = Servers::new();
    // A program in bubblewrap has a network of its own: it can send, and nobody is there.
    let has_own = sandbox == Sandbox::Bubblewrap;
    for way in WAYS {
        let said = servers.run(&fixture, way).await;
        assert!(has_own || said.starts_with("PermissionError"), "{way}: {said}");
    }
    for (name, family) in FAMILIES {
        let way = format!("socket.socket({family}, socket.SOCK_RAW)");
        let said = servers.run(&fixture, &way).await;
        assert!(said.starts_with("PermissionError"), "{name}: {said}");
    }
    servers.got_nothing();
    let local = "import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))";
    assert_eq!(fixture.bash(&format!("python3 -c \"{local}\"")).await["stdout"], "b'x'\n");
    fixture.close().await;
}

struct Servers {
    tcp: TcpListener,
    udp: UdpSocket,
}

impl Servers {
    fn new() -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        Self { tcp, udp }
    }

    /// What a line of Python says: `reached`, or its exception.
    async fn run(&self, fixture: &Fixture, line: &str) -> String {
        let port = |address: std::net::SocketAddr| address.port().to_string();
        let line = line.replace("TCP", &port(self.tcp.local_addr().unwrap()));
        let line = line.replace("UDP", &port(self.udp.local_addr().unwrap()));
        let program = format!(
            "import socket\ntry:\n  {line}\n  print('reached')\nexcept Exception as error:\n  print(type(error).__name__, error)"
        );
        let value = fixture.bash(&format!("python3 - <<'END'\n{program}\nEND")).await;
        value["stdout"].as_str().unwrap().to_owned()
    }

    fn got_nothing(&self) {
        assert!(self.tcp.accept().is_err() && self.udp.recv(&mut [0]).is_err());
    }
}
