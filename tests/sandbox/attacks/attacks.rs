// The file `attack` has the names of the attacks, then secret, marker, port, pid, mark, processes, MiB.
use std::fs::{read, write, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

extern "C" {
    fn kill(pid: i32, number: i32) -> i32;
    fn signal(number: i32, action: usize) -> usize;
}

fn reads(path: &str) -> bool {
    read(path).map_or(false, |found| !found.is_empty())
}

fn writes(path: &str) -> bool {
    write(path, "x").is_ok()
}

fn fills(file: std::io::Result<impl Write>, size: usize) -> bool {
    let block = vec![b'x'; 1 << 20];
    file.map_or(false, |mut out| (0..size).all(|_| out.write_all(&block).is_ok()) && out.flush().is_ok())
}

fn attack(name: &str, order: &[&str]) -> bool {
    let (secret, marker, port, pid, mark) = (order[1], order[2], order[3], order[4], order[5]);
    let (processes, mib): (usize, usize) = (order[6].parse().unwrap(), order[7].parse().unwrap());
    let places = [format!("/tmp/{mark}"), format!("/dev/shm/{mark}"), format!("./{mark}")];
    match name {
        "read" => reads(secret),
        "write" => writes(marker),
        "link_read" => symlink(secret, name).is_ok() && reads(name),
        "link_write" => symlink(marker, name).is_ok() && writes(name),
        "network" => std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok(),
        "signal" => unsafe { kill(pid.parse().unwrap(), 0) == 0 },
        "environment" => std::env::var_os("GENBENCH_BAIT").is_some(),
        "proc" => reads(&format!("/proc/{pid}/cmdline")),
        "descriptors" => {
            let files: Vec<_> = (0..2000).map(|_| File::open("/dev/null")).collect();
            files.iter().all(|file| file.is_ok())
        }
        "leave" => places.iter().filter(|place| writes(place)).count() > 0,
        "left" => places.iter().any(|place| reads(place)),
        "time" => {
            (1..65).for_each(|number| unsafe {
                signal(number, 1);
            });
            sleep(Duration::from_secs(3));
            true
        }
        "memory" => {
            let kept: Vec<Vec<u8>> = (0..mib / 16).map(|i| vec![i as u8 | 1; 16 << 20]).collect();
            kept.iter().all(|part| part[12345] > 0)
        }
        "disk" => (0..6).all(|i| {
            let filled = fills(File::create(format!("file{i}")), 15);
            sleep(Duration::from_millis(100));
            filled
        }),
        "file" => fills(File::create("large"), 20),
        "output" => fills(Ok(std::io::stdout()), 20),
        "errors" => fills(Ok(std::io::stderr()), 20),
        "processes" => (0..processes).all(|_| Command::new("sleep").arg("2").spawn().is_ok()),
        "background" => Command::new("sleep").arg(mark).spawn().is_ok(),
        _ => false,
    }
}

fn main() {
    let text = std::fs::read_to_string("attack").unwrap();
    let order: Vec<&str> = text.lines().collect();
    for name in order[0].split(' ') {
        let found = if attack(name, &order) { "REACHED" } else { "held" };
        println!("\n{name} {found}");
    }
    println!("done");
}
