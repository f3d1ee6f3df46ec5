/** Cost of encoding the text of every state that a run visits, estimated from a few real texts and a short measurement. */
import { StateReader } from '../agents/walker/policy.js';
import { walkRulesOf } from '../envs/dialogue-walk/rules.js';
import type { RunSettings } from '../presets/index.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import type { PlannedWalks } from '../tasks/task.js';
import type { Row } from './output.js';
import { freshShare, probeSpeed, sampleTexts, sharedInOrder, textLengths } from './state-probe.js';
import { firstStates } from './training-texts.js';
import { laterStates } from './walked-states.js';

/** Tokens of some texts, and of them those that need no evaluation because the text before begins alike. */
interface Tokens {
  all: number;
  shared: number;
}

/** A row for the states that walks begin in, and one for those that they come to. */
export async function stateRows(walks: PlannedWalks, settings: RunSettings, encoder: StateEncoder): Promise<Row[]> {
  const { graph } = walks;
  const rules = walkRulesOf(settings.env);
  const reader = new StateReader(encoder, graph, settings.stateText);
  const begun = firstStates(walks, settings);
  const tasks = begun.map(({ task }) => task);
  const first = [...new Set(await reader.texts(begun))];
  const sample = await sampleTexts(reader, tasks, graph, rules);
  const lengths = await textLengths(sample, encoder);
  const fresh = {
    first: freshShare(first, encoder),
    later: freshShare(
      sample.flatMap((texts) => texts.later),
      encoder,
    ),
  };
  const rate = await probeSpeed(sample, encoder);

  const later = laterStates(walks, settings);
  const most = later.training + later.valid;
  const firstTokens = {
    all: first.length * lengths.first,
    shared: sharedInOrder(first, lengths.characters, encoder.prefixBlock),
  };
  // Of the states that walks of a task come to together, the first is read from its beginning.
  const laterTokens = { all: most * lengths.later, shared: Math.max(0, most - later.visits) * lengths.beginning };
  return [
    {
      phase: 'first states',
      work: `${first.length} distinct texts, ${tokensWork(firstTokens)}, ${percent(fresh.first)} of them new`,
      time: timeOf(firstTokens, fresh.first, rate),
    },
    {
      phase: 'later states',
      work: `at most ${later.training} texts in training and ${later.valid} on valid, of ${later.reachable} that there are; ${tokensWork(laterTokens)}, ${percent(fresh.later)} of them new`,
      time: timeOf(laterTokens, fresh.later, rate),
    },
  ];
}

function tokensWork({ all, shared }: Tokens): string {
  const whole = `about ${Math.round(all)} tokens`;
  return shared > 0 ? `${whole}, ${Math.round(all - shared)} to evaluate as beginnings are shared` : whole;
}

function timeOf({ all, shared }: Tokens, fresh: number, rate: number | undefined): string {
  if (fresh === 0) return 'all cached';
  if (rate === undefined) return 'not measured: a sample of them is cached';
  const hours = ((all - shared) * fresh) / rate / 3600;
  const length = hours < 1 ? `${Math.ceil(hours * 60)} min` : `${hours.toFixed(1)} h`;
  return `about ${length} at ${Math.round(rate)} tokens/s`;
}

const percent = (share: number) => `${Math.round(100 * share)} %`;
