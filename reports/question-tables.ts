/** Tables of agents on the same questions: scores and costs, kinds of questions, misses, ends, replies. */
import type { Cell, Fact, Table } from './html.js';
import type { QuestionResult, QuestionSet } from './question-results.js';
import { countCell, shareCell } from './tables.js';
import { figureNames, milliseconds, percent, plain } from './words.js';

/** Beside so many agents, kinds of questions still have a column for each. */
const mostAgents = 10;

const firstScores = ['hit@1', 'f1', 'accuracy'];

/** Every agent: how good, and how dear. */
export function questionTable({ rows, n }: QuestionSet): Table {
  const scores = firstScores.filter((key) => rows.some(({ metrics }) => metrics[key]));
  const asks = rows.some(({ model }) => model !== undefined);
  const timed = rows.some(({ speed }) => speed);
  return {
    head: [
      'agent',
      ...scores.map((key) => `${figureNames[key]!}, %`),
      ...(asks ? ['calls', 'model tokens'] : []),
      ...(timed ? ['time'] : []),
      'questions',
    ],
    rows: rows.map((row) => ({
      own: row.own,
      cells: [
        { text: row.label, details: asideOf(row) },
        ...scores.map((key) => shareCell(row.metrics[key])),
        ...(asks ? [callsCell(row), tokensCell(row)] : []),
        ...(timed ? [speedCell(row)] : []),
        { text: plain(n) },
      ],
    })),
  };
}

/** All other figures of every agent: scores, and how often nothing came. */
export function scoreTable({ rows }: QuestionSet): Table {
  const scores = Object.keys(figureNames).filter(
    (key) => !firstScores.includes(key) && rows.some(({ metrics }) => metrics[key]),
  );
  const failures = ['abstained', 'unparsed', 'crashed', 'degraded'].filter((key) =>
    rows.some(({ metrics }) => (metrics[key]?.value ?? 0) > 0),
  );
  return {
    head: ['agent', ...[...scores.map((key) => figureNames[key]!), ...failures].map((name) => `${name}, %`)],
    rows: rows.map((row) => ({
      own: row.own,
      cells: [
        { text: row.label },
        ...scores.map((key) => shareCell(row.metrics[key])),
        ...failures.map((key) => ({ text: row.metrics[key] ? percent(row.metrics[key].value) : '' })),
      ],
    })),
  };
}

const kindNames: Record<string, string> = {
  'answers=1': 'one right answer',
  'answers=many': 'several right answers',
  'form=entities': 'which',
  'form=truth': 'true or false',
};

/**
 * Main figure of every agent by kind of question; of one agent alone, all its figures. Empty where there are no kinds.
 * @param types whether to show the types of the data set, which are many, or all other kinds
 */
export function kindTable({ rows, main }: QuestionSet, types: boolean): Table {
  const kinds = [...new Set(rows.flatMap(({ slices }) => Object.keys(slices)))].filter(
    (kind) => kind.startsWith('type=') === types,
  );
  const size = (kind: string) => Object.values(rows.find(({ slices }) => slices[kind])!.slices[kind]!)[0]!.n;
  const [only] = rows;
  const columns: { name: string; cell: (kind: string) => Cell }[] =
    rows.length === 1
      ? [main, 'f1', 'exact', 'complete', 'calls.mean'].flatMap((key) =>
          Object.values(only!.slices).some((figures) => figures[key] && (key in figureNames || figures[key].high > 0))
            ? [
                {
                  name: key in figureNames ? `${figureNames[key]!}, %` : 'calls',
                  cell: (kind: string) => (key in figureNames ? shareCell : countCell)(only!.slices[kind]?.[key]),
                },
              ]
            : [],
        )
      : rows.slice(0, mostAgents).map((row) => ({
          name: row.label,
          cell: (kind) => shareCell(row.slices[kind]?.[main] ?? row.slices[kind]?.accuracy),
        }));
  return {
    head: ['questions', 'n', ...columns.map(({ name }) => name)],
    rows: kinds.map((kind) => ({
      cells: [
        { text: kindNames[kind] ?? kind.slice(kind.indexOf('=') + 1) },
        { text: plain(size(kind)) },
        ...columns.map(({ cell }) => cell(kind)),
      ],
    })),
  };
}

/** Misses by class, percent of all questions. Empty where nobody missed anything. */
export function missTable({ rows, main }: QuestionSet): Table {
  const classes = [...new Set(rows.flatMap(({ misses }) => Object.keys(misses)))];
  return {
    head: ['agent', 'right', ...classes.map((name) => name.replaceAll('-', ' '))],
    rows:
      classes.length === 0
        ? []
        : rows.map((row) => ({
            own: row.own,
            cells: [
              { text: row.label },
              { text: percent(rightShare(row, main)) },
              ...classes.map((name) => ({ text: row.misses[name] ? percent(row.misses[name] / row.asked) : '' })),
            ],
          })),
  };
}

/** Why questions ended, in the agents' own words. */
export function stopTable({ rows }: QuestionSet): Table {
  return {
    head: ['agent', 'ended by, % of questions'],
    rows: rows.map((row) => ({
      own: row.own,
      cells: [
        { text: row.label },
        {
          wraps: true,
          text: Object.entries(row.stops)
            .sort(([, a], [, b]) => b - a)
            .map(([word, count]) => `${word} ${percent(count / row.asked)}`)
            .join(' · '),
        },
      ],
    })),
  };
}

/** Calls by phase and by how their replies were read. Empty where nobody made calls. */
export function phaseTable({ rows }: QuestionSet): Table {
  const lines = rows.flatMap((row) => Object.entries(row.phases).map(([phase, counted]) => ({ row, phase, counted })));
  const order = ['constrained', 'direct', 'extracted', 'repaired', 'asked-again', 'unparsed'];
  const seen = new Set(lines.flatMap(({ counted }) => Object.keys(counted.stages)));
  const stages = [...order.filter((stage) => seen.delete(stage)), ...seen];
  return {
    head: ['agent and phase', 'calls', 'a question', ...stages.map((stage) => `${stage.replace('-', ' ')}, %`)],
    rows: lines.map(({ row, phase, counted: { calls, stages: counts } }) => ({
      own: row.own,
      cells: [
        { text: `${row.label}: ${phase}` },
        { text: plain(calls) },
        { text: (calls / row.asked).toFixed(2) },
        ...stages.map((stage) => ({ text: counts[stage] ? percent(counts[stage] / calls) : '' })),
      ],
    })),
  };
}

/** What was asked, and how much of it can be answered at all. */
export function questionFacts({ n, limit, holdOut, excluded, rows, labels, graph }: QuestionSet): Fact[] {
  const { reachable, 'reachable-all': all } = rows[0]!.metrics;
  return [
    { name: 'questions', value: plain(n) },
    { name: 'graph', value: [graph, ...labels.map((label) => `[${label}]`)].join(' ') },
    { name: 'held out by', value: holdOut },
    ...(limit === undefined ? [] : [{ name: 'drawn', value: `a seeded sample of ${plain(limit)}` }]),
    ...(reachable ? [{ name: 'some answer within three relations', value: `${percent(reachable.value)} %` }] : []),
    ...(all ? [{ name: 'all answers', value: `${percent(all.value)} %` }] : []),
    ...Object.entries(excluded).map(([reason, count]) => ({ name: `not asked, ${reason}`, value: plain(count) })),
  ];
}

function rightShare({ metrics, misses, asked }: QuestionResult, main: string): number {
  const missed = Object.values(misses).reduce((sum, count) => sum + count, 0);
  return metrics[main] && asked > 0 ? (asked - missed) / asked : 0;
}

function asideOf({ note, model, simulated, seeds }: QuestionResult): string[] {
  return [
    ...(model === undefined ? ['no language model'] : [simulated ? `${model}, simulated` : model]),
    ...(note ? [note] : []),
    ...(seeds > 1 ? [`mean of ${seeds} seeds`] : []),
  ];
}

function callsCell({ metrics, cost: { calls } }: QuestionResult): Cell {
  if (!calls || calls.max === 0) return { text: '0' };
  const { text, details = [] } = countCell(metrics['calls.mean']);
  const share = metrics['at-cap']?.value ?? 0;
  const atCap = share > 0 ? [`${percent(share)} % at cap`] : [];
  return { text, details: [...details, `p95 ${plain(calls.p95)}, max ${plain(calls.max)}`, ...atCap] };
}

function tokensCell({ simulated, cost: { promptTokens, cachedTokens, completionTokens } }: QuestionResult): Cell {
  const prompt = promptTokens?.mean ?? 0;
  const written = completionTokens?.mean ?? 0;
  if (prompt + written === 0) return { text: '0' };
  return {
    text: plain(Math.round(prompt + written)),
    details: [
      `${plain(Math.round(written))} written`,
      ...(prompt > 0 && !simulated ? [`${percent((cachedTokens?.mean ?? 0) / prompt)} % cached`] : []),
    ],
  };
}

function speedCell({ speed }: QuestionResult): Cell {
  if (!speed) return { text: '' };
  const { msPerQuestion, tokensPerSecond } = speed;
  const rate = tokensPerSecond === undefined ? [] : [`${plain(Math.round(tokensPerSecond))} tokens/s`];
  return { text: milliseconds(msPerQuestion), details: rate };
}
