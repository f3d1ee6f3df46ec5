/**
 * Agreement of annotators on turns whose context recurs in another dialogue, and of runs with them, each run on dialogues that it was not
 * trained on.
 *
 *     node dist/bench/annotators/main.js opendialkg [--run RUN]... [--picture FILE.png] [--json]
 */
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { type ContextKey, recurringContexts } from './recurring-contexts.js';
import { dataSettings } from '../../datasets/settings.js';
import { splitNames, walkSamples, type WalkSample } from '../../datasets/walk-sample.js';
import { envSettings } from '../../envs/settings.js';
import { noCalls } from '../../evaluation/ask.js';
import { type Agreement, type JudgedTurn, judgedAgreementOf } from './agreement.js';
import { loadConfig } from '../../src/run/config.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import { hasUnknownSources, readRunProvenance, unpackIds } from '../../src/run/provenance.js';
import type { RunInfo } from '../../src/run/records.js';
import { runFiles } from '../../src/run/run-files.js';
import { usualFlags } from '../../tasks/flags.js';
import { checkDataset } from '../../tasks/leaks.js';
import { findTrained } from '../../tasks/named-runs.js';
import { membersOf, type Shown, ShownPage, type Trained, type Work } from '../../tasks/task.js';
import { openScoredAgent } from '../../tasks/dialogues/agents.js';
import { dialogueData } from '../../tasks/dialogues/data.js';
import type { DialogueRow } from '../../tasks/dialogues/row.js';
import { agreementSection, annotatorAgreement, chosenTurns, judgedTurns, meanJudged } from './turns.js';

/** Both keys, the stricter one first. */
const keys: Readonly<Record<ContextKey, string>> = {
  history: 'Annotators where everything said and the start are the same',
  'last message': 'Annotators where the last message and the start are the same',
};

/**
 * Agreement of annotators over all splits; undefined if no context recurs. With runs also their agreement with annotators: each run is
 * evaluated on turns of dialogues that none of its artifacts was made from; predictions of several runs for one turn are averaged.
 * @throws WorkbenchError `usage` for runs on other data or graphs, `data` for a run without notes of its sources, or
 *   if every recurring turn was used by all runs
 */
export async function dialogueAgreement(
  name: string,
  names: readonly string[],
  work: Work,
): Promise<Shown | undefined> {
  const runs = names.map((run) => {
    const trained = findTrained(run, 'best');
    if (trained) return { name: run, trained };
    throw new WorkbenchError('usage', `expected a run, got ${JSON.stringify(run)}, at --run`);
  });
  const graphs = runs.flatMap(({ trained }) => membersOf(trained).map(({ run }) => checkedData(name, run).graph));
  if (new Set(graphs).size > 1) {
    throw new WorkbenchError('usage', `expected runs on one graph, got ${graphs.join(' and ')}, at --run`, {
      hint: 'Ask once for the runs of each graph, or train them on one with --set data.graph=GRAPH.',
    });
  }
  const dataset = loadDialogueDataset(name);
  const graph = await dataset.loadGraph(graphs[0]);
  const samples = splitNames.flatMap((split) => walkSamples(dataset.loadDialogues(split), graph));
  const annotators: { by: ContextKey; title: string; found: Agreement }[] = [];
  for (const [by, title] of Object.entries(keys) as [ContextKey, string][]) {
    const found = annotatorAgreement(samples, by);
    if (found) annotators.push({ by, title, found });
  }
  const recurring = recurringContexts(samples).flat();
  if (runs.length > 0 && recurring.length === 0) {
    throw new WorkbenchError('data', `expected turns of ${name} that recur, got none`);
  }
  if (annotators.length === 0) return undefined;
  const judged = new Map<string, JudgedTurn[]>();
  const judges: { run: string; turns: number }[] = [];
  for (const which of runs) {
    const turns = await judgeUnseen(which, recurring, work);
    for (const [id, turn] of turns) judged.set(id, [...(judged.get(id) ?? []), turn]);
    judges.push({ run: which.name, turns: turns.size });
  }
  const walkers = judgedAgreementOf(
    chosenTurns(samples, 'history', ({ task }) => {
      const own = judged.get(task.id);
      return own && meanJudged(own);
    }),
  );
  const page = new ShownPage({
    ...Object.fromEntries(annotators.map(({ by, found }) => [by, found])),
    ...(walkers && { judges, walkers }),
  });
  page.line(`${printable(name)}, all splits: turns that recur in another dialogue`);
  for (const { title, found } of annotators) page.sections.push(agreementSection(title, found));
  if (walkers) {
    page.line();
    for (const { run, turns } of judges) {
      page.line(
        `${printable(run)} judges ${turns} of ${recurring.length} turns: those of dialogues that it was not trained on`,
      );
    }
    page.sections.push(agreementSection('Walkers and annotators on these turns', walkers));
  }
  page.line();
  page.line('in percent; brackets: 95 % bootstrap over contexts');
  return page;
}

function checkedData(name: string, run: RunInfo) {
  const data = dataSettings.parse(run.config.data ?? {});
  checkDataset(name, data.dataset, `run ${run.id}`);
  const { edgePolicy } = loadConfig(envSettings, {
    text: JSON.stringify(run.config.env ?? {}),
    source: `env of ${run.id}`,
  });
  if (data.oracle !== null) {
    throw new WorkbenchError('usage', `expected runs that read no reply, got an oracle, at run ${run.id}`, {
      hint: 'It reads what annotators wrote after they had chosen: train without data.oracle.',
    });
  }
  if (edgePolicy !== 'ark') return data;
  throw new WorkbenchError(
    'usage',
    `expected edge lists made without dialogues, got env.edgePolicy=ark, at run ${run.id}`,
    {
      hint: 'Its lists hold the edges that annotators took: train with another env.edgePolicy.',
    },
  );
}

/** Samples of dialogues that no artifact of a run was made from, linked turns (`train-17~3`) included. Samples that only chose among checkpoints do not count. */
export function unseenBy(run: RunInfo, samples: readonly WalkSample[]): WalkSample[] {
  const file = runFiles(run.folder).provenance;
  const record = readRunProvenance(run);
  const unknown = !record || record.artifacts.some(({ facts }) => hasUnknownSources(facts));
  if (unknown) {
    throw new WorkbenchError(
      'data',
      `expected the sources of every artifact of run ${run.id}, got none of some, at ${file}`,
      {
        hint: 'Versions before this one kept none: train again.',
      },
    );
  }
  const seen = new Set<string>();
  for (const { kind, samples: set } of record.artifacts) {
    if (kind === 'choice' || set === undefined) continue;
    const { ids, count } = record.sets[set]!;
    for (const id of unpackIds(ids, count, file)) seen.add(id.replace(/[#~]\d+$/, ''));
  }
  return samples.filter(({ task }) => !seen.has(task.dialogueId));
}

async function judgeUnseen(
  which: { name: string; trained: Trained },
  recurring: readonly WalkSample[],
  work: Work,
): Promise<Map<string, JudgedTurn>> {
  const { run, checkpoint } = which.trained;
  // An ensemble was trained on the dialogues of all its members.
  const samples = membersOf(which.trained).reduce((left, member) => unseenBy(member.run, left), [...recurring]);
  if (samples.length === 0) {
    throw new WorkbenchError(
      'data',
      `expected turns that recur in dialogues that run ${run.id} did not learn from, got none of ${recurring.length}`,
      {
        hint: 'Train with --set data.fold=1/2 --set transe.enabled=false, which leaves half of the train dialogues out of everything.',
      },
    );
  }
  const flags = { ...usualFlags, checkpoint };
  const data = { ...(await dialogueData(flags, [run])), samples };
  const opened = await openScoredAgent({ ...which, switches: {} }, data, { flags, runs: [run], work });
  const line = work.progress(`judge turns that recur (${run.id})`, samples.length, 'turns');
  const rows: DialogueRow[] = [];
  let done = 0;
  try {
    await opened.asker.ask(
      samples.map(({ task }) => task),
      (index, attempt) => {
        rows[index] = opened.scorer.rowOf(samples[index]!, attempt);
        line.update(++done);
      },
      { openCalls: noCalls, concurrency: 1, signal: work.signal },
    );
  } finally {
    await opened.close?.();
  }
  line.finish('');
  return judgedTurns(samples.map((sample, i) => rows[i] ?? opened.scorer.rowOf(sample, undefined)));
}
