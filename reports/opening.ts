/** The head of the page: its title, what was done, what came of it, and on what. */
import type { Fact, PageView } from './html.js';
import type { LinkSet } from './link-results.js';
import { plain } from './numbers.js';
import type { QuestionSet } from './question-results.js';
import { questionFacts } from './question-tables.js';
import type { ResultSet } from './results.js';
import type { RunGroup, RunKind } from './run-data.js';
import { seedOf } from './run-data.js';
import { linkResult, nothingEvaluated, questionResult, reservations, walkResult } from './summary.js';
import { answeredLinks, askedQuestions, trainedOnDialogues } from './what-was-done.js';

/** What a page is about: runs by kind, and what they and others were evaluated on. */
export interface Found {
  groups: Readonly<Record<RunKind, readonly RunGroup[]>>;
  walked: readonly ResultSet[];
  asked: readonly QuestionSet[];
  linked: readonly LinkSet[];
}

/** The first words of the page. */
export function openingOf({
  groups,
  walked,
  asked,
  linked,
}: Found): Pick<PageView, 'done' | 'result' | 'reservations'> {
  const all = Object.values(groups).flat();
  const [walks, questions, links] = [walked[0], asked[0], linked[0]];
  const found = [
    ...(walks ? [walkResult(walks) ?? []].flat() : []),
    ...(questions ? [questionResult(questions)] : []),
    ...(links ? [linkResult(links) ?? []].flat() : []),
  ].join('; ');
  const result = found === '' ? nothingEvaluated(all) : `${found}.`;
  return {
    done: [
      ...(groups.dialogues.length > 0 ? [trainedOnDialogues(groups.dialogues, walks)] : []),
      ...(groups.questions.length > 0 || questions ? [askedQuestions(groups.questions, questions)] : []),
      ...(groups.links.length > 0 || links ? [answeredLinks(groups.links, links)] : []),
    ].join(' '),
    result: result[0]!.toUpperCase() + result.slice(1),
    reservations: reservations({ walks, groups: groups.dialogues, asked: questions, linked: links }).join(' '),
  };
}

const subjects: Readonly<Record<RunKind, string>> = {
  dialogues: 'walks on',
  questions: 'questions on',
  links: 'link queries on',
};

/** What the page is about, in a few words. */
export function titleOfPage({ groups, walked, asked, linked }: Found): string {
  const datasets: Readonly<Record<RunKind, string>> = {
    dialogues: datasetsOf(walked),
    questions: datasetsOf(asked),
    links: datasetsOf(linked),
  };
  const kinds = (Object.keys(subjects) as RunKind[]).filter(
    (kind) => groups[kind].length > 0 || (kind !== 'dialogues' && datasets[kind] !== ''),
  );
  if (kinds.length > 1) {
    const title = kinds.map((kind) => `${subjects[kind]} ${datasets[kind] || nameOf(groups[kind])}`).join(', ');
    return title[0]!.toUpperCase() + title.slice(1);
  }
  const all = Object.values(groups).flat();
  if (all.length > 1) return `${all.length} settings compared`;
  if (all.length === 1) return all[0]!.label;
  const agents = [...new Set([...asked, ...linked].flatMap(({ rows }) => rows.map(({ label }) => label)))];
  const sets = datasets.questions || datasets.links;
  return agents.length > 1 ? `${agents.length} agents on ${sets}` : `${agents[0]!} on ${sets}`;
}

const datasetsOf = (sets: readonly { dataset: string }[]) =>
  [...new Set(sets.map(({ dataset }) => dataset))].join(', ');

function nameOf(groups: readonly RunGroup[]): string {
  return groups.length > 1 ? `${groups.length} settings` : groups[0]!.label;
}

/** On what, below the first words. */
export function factsOf({ groups, walked, asked, linked }: Found): Fact[] {
  const runs = Object.values(groups).flatMap((some) => some.flatMap(({ runs: members }) => members));
  const facts = [
    ...(runs.length > 0
      ? [
          { name: 'runs', value: plain(runs.length) },
          { name: 'seeds', value: [...new Set(runs.map(seedOf))].sort((a, b) => Number(a) - Number(b)).join(', ') },
        ]
      : []),
  ];
  const [walks, questions, links] = [walked[0], asked[0], linked[0]];
  if (walks) return [...walkFacts(walks), ...facts];
  return [...facts, ...(questions ? questionFacts(questions) : links ? queryFacts(links) : [])];
}

function walkFacts({ dataset, graph, split, turns, n, rows }: ResultSet): Fact[] {
  return [
    { name: 'data set', value: dataset },
    { name: 'graph', value: graph },
    { name: 'split', value: split },
    { name: 'turns', value: turns },
    { name: 'samples', value: plain(n) },
    { name: 'beam', value: plain(rows[0]!.record.beamWidth) },
  ];
}

function queryFacts({ dataset, split, n, rows }: LinkSet): Fact[] {
  const walker = rows.find(({ own }) => own)?.record;
  return [
    { name: 'data set', value: dataset },
    { name: 'split', value: split },
    { name: 'triples', value: plain(n) },
    ...(walker?.horizon === undefined ? [] : [{ name: 'steps of a walk', value: plain(walker.horizon) }]),
    ...(walker?.beamWidth === undefined ? [] : [{ name: 'beam', value: plain(walker.beamWidth) }]),
  ];
}
