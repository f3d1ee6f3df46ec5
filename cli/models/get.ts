/** `kgwalk models get`. */
import { downloadModel, wantedModel } from '../../src/llm/download-model.js';
import type { WantedModel } from '../../src/llm/download-model.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { masked } from '../../src/run/secrets.js';
import { printJson, printLine, printNote } from '../output.js';
import { terminalWatch } from '../watch.js';
import { megabytes } from './sizes.js';

interface GetFlags {
  name?: string;
  sha256?: string;
  acceptLicence?: boolean;
  acceptUnverified?: boolean;
  json?: boolean;
}

/** Says where it comes from and under which licence, downloads, and says what to do with it. */
export async function getModel(what: string, flags: GetFlags): Promise<void> {
  const { name, sha256, acceptUnverified, json } = flags;
  const wanted = wantedModel(what, { ...(name !== undefined && { name }), ...(sha256 !== undefined && { sha256 }) });
  printNote(`${wanted.name} from ${masked(wanted.url)}\nlicence: ${wanted.licence ?? `see ${wanted.page}`}`);
  if (wanted.licenceToAccept !== undefined && !flags.acceptLicence) throw notAccepted(wanted, wanted.licenceToAccept);
  const { file, kept, ...record } = await downloadModel(wanted, { acceptUnverified, ...terminalWatch() });
  if (json) return printJson({ ...record, file, kept });
  const { bytes, hashFrom } = record;
  const checked = {
    caller: 'its sha256 is right',
    host: 'its sha256 is the one that the host told',
    nobody: 'UNVERIFIED: nobody gave a sha256 to check it by',
  };
  printLine(
    `${record.name}: ${megabytes(bytes)} MB at ${file}; ${kept === bytes ? 'it was here' : 'downloaded'}; ${checked[hashFrom]}`,
  );
  printLine(`sha256 ${record.sha256}`);
  printLine(`use it: --model ${record.name}, --encoder ${record.name}; more: kgwalk models info ${record.name}`);
}

function notAccepted({ name, licence }: WantedModel, page: string): WorkbenchError {
  return new WorkbenchError('usage', `expected --accept-licence: ${name} comes under the ${licence}`, {
    hint: `Read it at ${page} and, if you accept it, say so with --accept-licence.`,
  });
}
