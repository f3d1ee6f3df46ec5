/** Free-text question as a task: topics are marked by [brackets] or found by name. */
import type { Graph } from '../../src/kg/graph.js';
import { NameIndex } from '../../src/kg/name-index.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { nearestName, printable } from '../../src/run/printable.js';
import type { QuestionTask } from '../question.js';

/** Options of `askedQuestion`. */
export interface AskedOptions {
  /** Names and aliases of the graph; default: names only. */
  names?: NameIndex;
  /** Subset of the task. Default `all`. */
  subset?: string;
  /** See `QuestionTask`. */
  topicsReturn?: boolean | undefined;
  /** Refuse a question without a topic. Default true. */
  needsTopic?: boolean;
}

/** Parsed question. */
export interface AskedQuestion {
  task: QuestionTask;
  /** The mention used as topic, if no brackets marked one. */
  found?: string | undefined;
}

/**
 * Reads `what treats the pests of [Crop 7]`. Without brackets the topic is the longest graph name in the question, ignoring case and
 * accents; of equal lengths the capitalised one.
 * @throws WorkbenchError `usage` for an unknown name in brackets, ambiguous names, and no name at all
 */
export function askedQuestion(
  text: string,
  graph: Graph,
  { names = new NameIndex(graph), subset = 'all', topicsReturn, needsTopic = true }: AskedOptions = {},
): AskedQuestion {
  const marked = bracketed(text);
  const named = (span: Span) => withSymbols(span, text, graph, names);
  const mentions = marked.spans.length > 0 ? marked.spans : mentionsIn(text, names).slice(0, 1).map(named);
  if (mentions.length === 0 && needsTopic) {
    const near = capitalRuns(text).flatMap((one) => nearestName(one, graph.entityNames) ?? []);
    const hint = `${near.length > 0 ? `Did you mean ${[...new Set(near)].map((one) => `[${one}]`).join(' or ')}? ` : ''}Put its topic entity in [brackets], as named in the graph.`;
    const message = `expected a name of the graph in the question, got none in ${JSON.stringify(text)}`;
    throw new WorkbenchError('usage', message, { hint });
  }
  const { question } = marked;
  const topics = mentions.flatMap(([begin, end]) => {
    const mention = question.slice(begin, end);
    const exact = graph.entityId(mention);
    const entities = exact >= 0 ? [exact] : names.find(mention);
    if (entities.length === 0) throw unknownEntity(mention, graph);
    // All homonyms are topics, but their mention is masked once.
    return entities.map((entity, i) => ({
      name: graph.entityNames[entity]!,
      entity,
      ...(i === 0 && { span: [begin, end] as const }),
    }));
  });
  const task: QuestionTask = { id: 'ask', subset, question, topics, topicsReturn, form: 'entities' };
  const [first] = marked.spans.length > 0 ? [] : mentions;
  return { task, found: first && question.slice(...first) };
}

type Span = readonly [begin: number, end: number];

function bracketed(text: string): { question: string; spans: Span[] } {
  const spans: Span[] = [];
  let question = '';
  let end = 0;
  for (const match of text.matchAll(/\[([^[\]]+)\]/g)) {
    question += text.slice(end, match.index);
    spans.push([question.length, question.length + match[1]!.length]);
    question += match[1]!;
    end = match.index + match[0].length;
  }
  return { question: question + text.slice(end), spans };
}

/** Words that are names in many graphs but not meant as such. */
const littleWords = new Set(
  'a an and are by did do does for from had has have her his how i in is it its many my of on or that the their they to was were what when where which who whom whose why will with'.split(
    ' ',
  ),
);

/** Words in capitals that follow each other, the first word of the question left out: what may be meant as a name. */
const capitalRuns = (question: string): string[] =>
  question.match(/(?<=\s)\p{Lu}[\p{L}\p{N}\p{M}'-]*(?: \p{Lu}[\p{L}\p{N}\p{M}'-]*)*/gu)?.slice(0, 3) ?? [];

/** Longest names in a question, possibly none. @throws WorkbenchError `usage` for several */
function mentionsIn(question: string, names: NameIndex): Span[] {
  const words = [...question.matchAll(/[\p{L}\p{N}\p{M}]\S*/gu)].map(({ 0: word, index }) => {
    return { begin: index, end: index + word.replace(/(?<=[\p{L}\p{N}\p{M}])[^\p{L}\p{N}\p{M}]+$/u, '').length };
  });
  for (let length = Math.min(names.maxWords, words.length); length > 0; length--) {
    const found = words.slice(0, words.length - length + 1).flatMap(({ begin }, i): Span[] => {
      const { end } = words[i + length - 1]!;
      const mention = question.slice(begin, end);
      // Leading articles are not part of a name: see `normalizeName`.
      const isNone = /^(the|an?) ./i.test(mention) || littleWords.has(mention.toLowerCase());
      return isNone || names.find(mention).length === 0 ? [] : [[begin, end]];
    });
    const isCapital = ([begin]: Span) => begin > 0 && /\p{Lu}/u.test(question[begin]!);
    const named = found.filter(isCapital);
    const left = named.length > 0 ? named : found;
    if (left.length === 0) continue;
    const texts = new Set(left.map((span) => question.slice(...span)));
    if (texts.size === 1) return left;
    const hint = `Mark one of them: ${[...texts].map((one) => `[${one}]`).join(' or ')}.`;
    const message = `expected one name of the graph, got ${texts.size} in ${JSON.stringify(question)}`;
    throw new WorkbenchError('usage', message, { hint });
  }
  return [];
}

/** Length of the symbols, with space between them, before the first letter or digit. */
function symbolsAhead(characters: readonly string[]): number {
  const first = characters.findIndex((character) => /[\p{L}\p{N}]/u.test(character));
  const run = first < 0 ? characters : characters.slice(0, first);
  return run.join('').trimEnd().length;
}

/** A mention with the symbols next to it that belong to the entity's name, such as an emoji. */
function withSymbols([begin, end]: Span, question: string, graph: Graph, names: NameIndex): Span {
  const before = symbolsAhead([...question.slice(0, begin)].reverse());
  const after = symbolsAhead([...question.slice(end)]);
  const folded = (text: string) => text.normalize('NFKC').toLowerCase();
  const known = names.find(question.slice(begin, end)).map((entity) => folded(graph.entityNames[entity]!));
  for (let length = before + after; length > 0; length--) {
    for (let left = Math.min(before, length); left >= Math.max(0, length - after); left--) {
      const [from, to] = [begin - left, end + length - left];
      if (known.includes(folded(question.slice(from, to)))) return [from, to];
    }
  }
  return [begin, end];
}

function unknownEntity(mention: string, graph: Graph): WorkbenchError {
  const near = nearestName(mention, graph.entityNames);
  return new WorkbenchError('usage', `expected an entity of the graph in brackets, got "${printable(mention, 80)}"`, {
    hint: near === undefined ? undefined : `Did you mean [${near}]?`,
  });
}
