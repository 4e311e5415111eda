// The file `attack` has the names of the attacks, then secret, marker, port, pid, mark, processes, MiB.
const fs = require('fs');
const net = require('net');
const { spawn } = require('child_process');
const [names, secret, marker, port, pid, mark, processes, mib] = fs.readFileSync('attack', 'utf8').split('\n');
const places = [`/tmp/${mark}`, `/dev/shm/${mark}`, `./${mark}`];
const pause = (ms) => new Promise((over) => setTimeout(over, ms));

function works(work) {
  try {
    return work() !== false;
  } catch (error) {
    return false;
  }
}

const reads = (path) => works(() => fs.readFileSync(path).length > 0);
const writes = (path) => works(() => fs.writeFileSync(path, 'x'));
const fills = (file, size) => works(() => {
  const block = Buffer.alloc(1 << 20, 'x');
  for (let i = 0; i < size; i++) for (let at = 0; at < block.length;) at += fs.writeSync(file, block, at);
});
const starts = (...words) => new Promise((told) => {
  const child = spawn('sleep', words, { detached: true, stdio: 'ignore' });
  child.unref();
  child.on('error', () => told(false));
  child.on('spawn', () => told(true));
});

const attacks = {
  read: () => reads(secret),
  write: () => writes(marker),
  link_read: () => works(() => fs.symlinkSync(secret, 'link_read')) && reads('link_read'),
  link_write: () => works(() => fs.symlinkSync(marker, 'link_write')) && writes('link_write'),
  network: () => new Promise((told) => {
    const end = net.connect(Number(port), '127.0.0.1', () => end.destroy() && told(true));
    end.on('error', () => told(false));
  }),
  signal: () => works(() => process.kill(Number(pid), 0)),
  environment: () => 'GENBENCH_BAIT' in process.env,
  proc: () => reads(`/proc/${pid}/cmdline`),
  descriptors: () => {
    const files = [];
    const reached = works(() => { while (files.length < 2000) files.push(fs.openSync('/dev/null', 'r')); });
    files.forEach((file) => fs.closeSync(file));
    return reached;
  },
  leave: () => places.filter(writes).length > 0,
  left: () => places.some(reads),
  time: async () => {
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGALRM', 'SIGXCPU']) process.on(name, () => {});
    await pause(3000);
  },
  memory: () => {
    const kept = [];
    for (let i = 0; i < Number(mib); i += 16) kept.push(Buffer.alloc(16 << 20, 'x'));
  },
  disk: async () => {
    for (let i = 0; i < 6; i++) {
      if (!fills(fs.openSync(`file${i}`, 'w'), 15)) return false;
      await pause(100);
    }
  },
  file: () => fills(fs.openSync('large', 'w'), 20),
  output: () => fills(1, 20),
  errors: () => fills(2, 20),
  processes: async () => {
    for (let i = 0; i < Number(processes); i++) if (!(await starts('2'))) return false;
  },
  background: () => starts(mark),
};

(async () => {
  for (const name of names.split(' ')) {
    const reached = (await attacks[name]()) !== false;
    fs.writeSync(1, `\n${name} ${reached ? 'REACHED' : 'held'}\n`);
  }
  fs.writeSync(1, 'done\n');
})();
