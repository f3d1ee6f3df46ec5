/** What a check for leaks looks like in a terminal: it says what was looked for, and never that there is no leak. */
import type { ArtifactRow } from '../../evaluation/leaks/artifact-rows.js';
import type { LeakReport } from '../../evaluation/leaks/leak-report.js';
import { intervalText, numberText } from '../../src/run/figures.js';
import type { Estimate } from '../../src/run/records.js';
import { printable } from '../../src/run/printable.js';
import { printLine, printTable, type Row } from '../output.js';
import type { Checked } from './checked.js';

/** Prints artifacts with their verdicts, then what they cannot show. */
export function printLeakReport(report: LeakReport, { title, note, cannotExclude }: Checked): void {
  const { dataset, graph, split, samples, artifacts, unknown, notNoted } = report;
  printLine(
    `${printable(title)} · ${dataset}, graph ${graph} · what does it know of split ${split} (${samples} samples)?`,
  );
  printLine();
  for (const of of unknown)
    printLine(`${printable(of)}: nothing is known of what it was made from: it keeps no provenance.json`);
  if (artifacts.length > 0) printTable(artifacts.map((row) => artifactRow(row, split)));
  printLine();
  printSummary(report);
  for (const wanted of notNoted) printLine(`not noted, so not known: ${wanted}`);
  printLine();
  printLine('What this cannot exclude');
  printLine();
  printLine(`- Graph ${graph}: ${printable(note)}.`);
  printCut(report);
  printTargets(report);
  printCounts(report);
  for (const doubt of cannotExclude) printLine(`- ${printable(doubt)}.`);
  if (report.foundBeside.length > 0) {
    printLine();
    printLine('Found in agents that were evaluated beside it');
    printLine();
    for (const text of report.foundBeside) printLine(`- ${printable(text)}`);
  }
}

function artifactRow(
  { of, kind, name, samples, foreign, byId, byContent, openings, texts, verdict, why }: ArtifactRow,
  split: string,
): Row {
  const from = Object.entries(samples).map(([of, count]) => `${of} ${count}`);
  if (foreign > 0) from.push(`not in the data set ${foreign}`);
  if (texts) from.push(`${texts.count} written`);
  return {
    of,
    kind,
    name,
    'made from': from.join(', ') || 'no sample',
    [`in ${split}`]: byId + (texts?.asked ?? 0),
    'same words': byContent === 0 ? '' : openings === byContent ? `${byContent} openings` : String(byContent),
    verdict: why === undefined ? verdict : `${verdict}: ${why}`,
  };
}

function printSummary({ artifacts, split, samples, found, unknown }: LeakReport): void {
  if (artifacts.length === 0) return;
  const none = artifacts.filter(({ verdict }) => verdict === 'none found').length;
  const openings = Math.max(...artifacts.map((row) => row.openings));
  const rest = artifacts.length - none;
  printLine(
    `found none of the ${samples} samples of ${split} in ${none} of ${artifacts.length} artifacts${rest > 0 ? '; the others say why' : ''}`,
  );
  if (openings > 0)
    printLine(`${openings} samples of ${split} begin a dialogue with the words, start and gold of one elsewhere`);
  if (found.length > 0) printLine(`found ${found.length}, listed below as an error`);
  else if (unknown.length === 0) printLine('this tells what was noted; it does not certify that nothing leaked');
}

function printCut({ split, cut }: LeakReport): void {
  const { entities, inTrain, onlyElsewhere, onlyAsked, inNone, restricted, golds } = cut;
  const unused = onlyElsewhere + inNone;
  printLine(
    `  Of ${entities} entities ${inTrain} are on golds of train; of the other ${unused}, ${onlyElsewhere} (${share(onlyElsewhere / unused)}) are on golds of other splits, ${onlyAsked} on those of ${split}.`,
  );
  if (restricted) {
    printLine(
      '  It looks restricted to entities of the dialogues: one that train never used is likely to be there because an evaluation dialogue uses it.',
    );
  }
  printLine(`  It holds ${golds.inGraph} of ${golds.samples} golds of ${split}, as it must for them to be found.`);
}

function printTargets({ targets, split, cut }: LeakReport): void {
  if (targets.length === 0) {
    printLine(
      `- Targets that train never had must score clearly below those it had: not tested, nothing was evaluated on ${split}.`,
    );
    return;
  }
  printLine('- Targets that train never had must score clearly below those it had:');
  const words = {
    below: 'below',
    above: 'ABOVE: something gives them away',
    'not below': cut.restricted ? 'NOT clearly below: as with a leak' : 'not clearly below',
    'too few': 'too few to say',
  };
  printTable(
    targets.map(({ evaluation, agent, metric, seen, unseen, difference, verdict }) => ({
      evaluation,
      agent,
      metric,
      seen: estimate(seen),
      unseen: estimate(unseen),
      'seen − unseen': intervalText(difference),
      'unseen is': words[verdict],
    })),
  );
}

function printCounts({ counts, split }: LeakReport): void {
  if (counts.length === 0) return;
  printLine(`- P(gold | train count) over the candidates of one-hop golds of ${split}, in percent, must not fall:`);
  printTable(
    counts.map(({ count, usedBy, over, shares, monotone }) => ({
      'count of': over === 'edges' ? count : `${count} (over ${over})`,
      'used by': usedBy.join(', '),
      ...Object.fromEntries(
        [0, 1, 2, 3].map((number) => {
          const row = shares.find((one) => one.count === number);
          const cell =
            row &&
            `${numberText(row.goldShare)} [${numberText(row.low)}, ${numberText(row.high)}] of ${row.candidates}`;
          return [`count ${number}${number === 3 ? ' or more' : ''}`, cell];
        }),
      ),
      monotone: monotone ? 'yes' : 'NO: it marks answers',
    })),
  );
}

const share = (value: number): string => `${numberText(value)} %`;
const estimate = (one: Estimate | undefined): string => (one ? `${intervalText(one)} of ${one.n}` : 'none');
