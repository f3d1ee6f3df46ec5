/** Command line of `study.ts`. */
import { argv, stderr } from 'node:process';
import { parseArgs } from 'node:util';
import { printShown } from '../../cli/output.js';
import { terminalWork } from '../../cli/terminal.js';
import { sectionBars } from '../../reports/figures.js';
import { pngOf } from '../../reports/pictures.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { dialogueAgreement } from './study.js';

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  allowPositionals: true,
  options: {
    run: { type: 'string', multiple: true, default: [] },
    picture: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const [name = 'opendialkg'] = positionals;
const found = await dialogueAgreement(name, values.run, terminalWork());
if (found) printShown(found, values.json);
else stderr.write(`${name}: no context recurs\n`);
const last = found?.sections.findLast(({ bars }) => bars);
if (last && values.picture !== undefined) {
  const [turns] = Object.keys(last.rows![0]!);
  writeFileAtomic(values.picture, await pngOf(sectionBars(last, `What the labels of ${name} allow: ${turns}, %`)!));
}
