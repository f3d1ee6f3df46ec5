/**
 * Adds to package-lock.json the optional packages of other platforms that `npm install` left out because the
 * registry it asked does not carry them; without their entries `npm ci` calls the file out of step.
 * They have no integrity, being never seen here. Run after every change of dependencies.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const systems = { darwin: 'darwin', mac: 'darwin', win32: 'win32', win: 'win32', linux: 'linux', android: 'android' };
const otherSystems = ['freebsd', 'openharmony'];
const processors = ['arm64', 'x64', 'arm', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64'];

function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = words.map((word) => systems[word] ?? (otherSystems.includes(word) ? word : undefined)).find(Boolean);
  const cpu = processors.find((processor) => words.includes(processor) || words.includes(`${processor}l`));
  const libc = words.some((word) => word.startsWith('musl')) ? ['musl'] : undefined;
  return { ...(os && { os: [os] }), ...(cpu && { cpu: [cpu] }), ...(libc && { libc }) };
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
let added = 0;
for (const [place, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const nested = `${place}/node_modules/${name}`;
    const hoisted = `node_modules/${name}`;
    if (nested in lock.packages || hoisted in lock.packages) continue;
    const version = range.replace(/^[^\d]*/, '');
    lock.packages[hoisted] = { version, ...(entry.dev && { dev: true }), optional: true, ...platformOf(name) };
    added++;
  }
}
const [root, ...rest] = Object.entries(lock.packages);
lock.packages = Object.fromEntries([root, ...rest.sort(([a], [b]) => a.localeCompare(b, 'en'))]);
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} optional packages of other platforms added`);
