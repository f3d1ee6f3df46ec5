/**
 * A preload that ends the program as `kill -9` does, right before the change of the disk whose number KGWALK_KILL_AT is; of a folder that is
 * removed or copied, and of what is written, half is done. Without a number it counts, into the file KGWALK_KILL_COUNT. Programs that
 * the program starts are left alone.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

const { KGWALK_KILL_AT: at, KGWALK_KILL_COUNT: count, KGWALK_KILL_PARENT: parent } = process.env;
const names = [
  ...[
    'writeFileSync',
    'appendFileSync',
    'writeSync',
    'renameSync',
    'rmSync',
    'rmdirSync',
    'unlinkSync',
    'mkdirSync',
    'mkdtempSync',
  ],
  ...['linkSync', 'openSync', 'ftruncateSync', 'truncateSync', 'copyFileSync', 'cpSync'],
];
/** Writes to the terminal and opening to read are not counted. */
const isChange = (name, [first, flags = 'r']) =>
  name === 'openSync' ? /[wax+]/.test(String(flags)) : !(name === 'writeSync' && first <= 2);

function half(name, of, plain) {
  const [first, second, offset = 0, length = second?.byteLength - offset, position] = of;
  // Where the whole would stand: logs are written by places.
  if (name === 'writeSync' && ArrayBuffer.isView(second)) plain(first, second, offset, length >> 1, position);
  if (name !== 'rmSync' || !fs.existsSync(first) || !fs.statSync(first).isDirectory()) return;
  for (const one of fs.readdirSync(first, { withFileTypes: true }).slice(0, 1)) {
    if (one.isFile()) plain(`${first}/${one.name}`);
  }
}

if (isMainThread && String(process.ppid) === parent) {
  let changes = 0;
  let inside = false;
  for (const name of names) {
    const plain = fs[name];
    fs[name] = (...of) => {
      // Parts of a change do not count as changes.
      if (inside || !isChange(name, of)) return plain(...of);
      inside = true;
      try {
        if (++changes === Number(at)) {
          half(name, of, plain);
          process.kill(process.pid, 'SIGKILL');
        }
        return plain(...of);
      } finally {
        inside = false;
      }
    };
  }
  syncBuiltinESMExports();
  process.on('exit', () => {
    inside = true;
    if (count) fs.writeFileSync(count, String(changes));
  });
}
