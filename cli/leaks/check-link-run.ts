/** `kgwalk datasets check NAME --run RUN` on links. */
import { loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import { linkLeaks, type LinkLeakReport } from '../../evaluation/leaks/link-leaks.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { readProvenance } from '../../src/run/provenance.js';
import type { RunInfo } from '../../src/run/records.js';
import { runFiles } from '../../src/run/run-folder.js';
import { printLine, printTable } from '../output.js';
import { checkDataset, checkGraph } from './checked.js';

/** @throws WorkbenchError `data` for what is damaged or was imported anew, `usage` for another data set or no such split */
export async function checkLinkRun(name: string, run: RunInfo, split: string): Promise<LinkLeakReport> {
  if (split !== 'valid' && split !== 'test') {
    throw new WorkbenchError(
      'usage',
      `expected a split that nothing may be made from (valid or test), got ${split}, at --split`,
    );
  }
  checkDataset(name, dataSettings.parse(run.config.data ?? {}).dataset, `run ${run.id}`);
  const dataset = await loadLinkDataset(name);
  checkGraph(dataset.graph.hash, run);
  const { clone, ppo } = run.state.done;
  const expected = [
    'edge list',
    ...(clone ? ['training: cloning'] : []),
    ...(ppo ? ['training: policy gradient', 'choice: best checkpoint'] : []),
  ];
  return linkLeaks(dataset, split, { record: readProvenance(runFiles(run.folder).provenance), expected });
}

/** Artifacts with their verdicts, then what they cannot show. */
export function printLinkLeaks(report: LinkLeakReport, run: string): void {
  const { dataset, split, triples, artifacts, notNoted, found, reversed, symmetric } = report;
  printLine(`run ${run} · ${dataset} · what does it know of split ${split} (${triples} triples)?`);
  printLine();
  printTable(
    artifacts.map(({ kind, name, madeFrom, verdict, why }) => ({
      ...{ kind, name, 'made from': madeFrom || 'not noted' },
      verdict: why === undefined ? verdict : `${verdict}: ${why}`,
    })),
  );
  printLine();
  const none = artifacts.filter(({ verdict }) => verdict === 'none found').length;
  const rest = none < artifacts.length ? '; the others say why' : '';
  printLine(`found none of the ${triples} samples of ${split} in ${none} of ${artifacts.length} artifacts${rest}`);
  if (found.length > 0) printLine(`found ${found.length}, listed below as an error`);
  else printLine('this tells what was noted; it does not certify that nothing leaked');
  for (const wanted of notNoted) printLine(`not noted, so not known: ${wanted}`);
  printLine();
  printLine('What this cannot exclude');
  printLine();
  printLine(
    `- Train links the pair of ${reversed} triples of ${split} the other way round, of ${symmetric} by the same relation: these need no reasoning.`,
  );
  printLine(`- Choices made by hand after a look at ${split}.`);
}
