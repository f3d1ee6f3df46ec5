/** How a run can be repeated: its command, what it ran on, its settings. */
import { stringify } from 'yaml';
import type { RunView } from './html.js';
import { plain } from './numbers.js';
import type { RunData } from './run-data.js';

/** What the page says of one run. */
export function runView({ info }: RunData): RunView {
  const { environment, config, configHash, state, id } = info;
  const fact = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [{ name, value: String(value) }];
  return {
    title: `${id}${state.status === 'finished' ? '' : ` (${state.status})`}`,
    command: `npx kgwalk ${environment.argv.map(quoted).join(' ')}`,
    environment: [
      ...fact('started', environment.started),
      ...fact(
        'machine',
        `${environment.cpu}, ${environment.cores} cores, ${plain(Math.round(environment.memoryMb / 1024))} GiB`,
      ),
      ...fact('platform', environment.platform),
      ...fact('backend', environment.backend),
      ...fact('threads', environment.threads),
      ...Object.entries(environment.versions).flatMap(([name, version]) => fact(name, version)),
      ...fact('config', configHash.slice(0, 12)),
      ...Object.entries(environment.hashes).flatMap(([name, hash]) => fact(name, hash.slice(0, 12))),
    ],
    config: stringify(config).trimEnd(),
  };
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
