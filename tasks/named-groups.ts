/** Several agents in one word: alternatives in braces, and words such as `prompted`. */
import { foundEvaluation } from '../evaluation/keep.js';
import { agentOf } from '../agents/registry.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { Choices, EvaluationFlags } from './flags.js';
import { agentGroups } from './named.js';
import { findRun } from '../src/run/run-folder.js';
import type { Named, Task } from './task.js';

/** More names than anybody compares: a range that was meant otherwise. */
const mostNames = 200;

/**
 * Alternatives in braces one by one, as a shell would: `tog:keep={1,2}` is `tog:keep=1` and `tog:keep=2`, `{1..3}` is 1, 2 and
 * 3; of several braces the last changes first.
 * @throws WorkbenchError `usage` for more than 200 names, and for braces that are anything else, unless in the name of a folder
 */
export const withoutBraces = (word: string): string[] => spelledOut(word, word);

/** @param word that `rest` ends */
function spelledOut(rest: string, word: string): string[] {
  if (!/[{}]/.test(rest)) return [rest];
  const [, before, list, first, last, after] =
    /^([^{}]*)\{(?:([^{},]+(?:,[^{},]+)+)|(\d+)\.\.(\d+))\}(.*)$/s.exec(rest) ?? [];
  if (before === undefined) {
    if (/^[^,]*[/\\][^,]*$/.test(word)) return [rest];
    throw new WorkbenchError('usage', `expected alternatives such as {1,2,3}, got ${rest}, at ${word}`, {
      hint: 'Several, none of them empty, or a range such as {1..3}; not one within another.',
    });
  }
  const alternatives = list === undefined ? rangeOf(Number(first), Number(last), word) : list.split(',');
  const ends = spelledOut(after!, word);
  const all = alternatives.flatMap((one) => ends.map((end) => before + one + end));
  if (all.length > mostNames) throw tooMany(word);
  return all;
}

function rangeOf(first: number, last: number, word: string): string[] {
  const many = Math.abs(last - first) + 1;
  if (many > mostNames) throw tooMany(word);
  return Array.from({ length: many }, (_, i) => String(first + Math.sign(last - first) * i));
}

const tooMany = (word: string) =>
  new WorkbenchError('usage', `expected at most ${mostNames} agents, got more, at ${word}`);

type Known = Pick<Task, 'name' | 'agents' | 'simulated'>;

/**
 * The words with groups written out: `prompted` is every agent that asks a model, `baselines` every other one, `all` both;
 * `prompted:keep=3` are those of them that have the switch. Agents that are named next to a group, or that the options do not
 * suit, are left out of it. A name that an agent, an evaluation or a run has is theirs.
 * @param note called with the names that were left out
 * @throws WorkbenchError `usage` for a group without members, `config` for a switch that none of them has
 */
export function withoutGroups(
  task: Known,
  words: readonly string[],
  flags: Pick<EvaluationFlags, 'set' | 'evaluations' | 'model'>,
  note: (line: string) => void,
): string[] {
  const isGroup = (word: string) =>
    Object.hasOwn(agentGroups, agentOf(word)) &&
    !task.agents.has(word) &&
    foundEvaluation(word, flags.evaluations) === undefined &&
    !findRun(word);
  const named = new Set(words.filter((word) => !isGroup(word)));
  return words.flatMap((word) => {
    if (!isGroup(word)) return [word];
    const members = membersOf(task, word, flags, note).filter((member) => !named.has(member));
    for (const member of members) named.add(member);
    return members;
  });
}

function membersOf(
  task: Known,
  word: string,
  flags: Pick<EvaluationFlags, 'set' | 'model'>,
  note: (line: string) => void,
): string[] {
  const group = agentOf(word);
  const switches = word.slice(group.length);
  const all = task.agents.names().filter((name) => agentGroups[group]!(task.agents.asksModel(name)));
  const suited = all.filter((name) => task.simulated?.suits(name, flags) ?? true);
  const having = suited.filter((name) => task.agents.hasSwitches(name + switches, flags.set));
  const missing = having.map((name) => task.agents.missingSwitches(name + switches, flags.set));
  const members = having.filter((_, i) => missing[i]!.length === 0);
  if (members.length === 0) {
    const parts = [...(flags.set ?? []), ...switches.split(/[:,]/).slice(1)];
    const hasPart = (part: string) => all.some((name) => task.agents.hasSwitches(`${name}:${part}`));
    const unknown = parts.filter((part) => !hasPart(part)).map((part) => part.replace(/=.*/s, ''));
    if (unknown.length > 0) {
      const got = `${unknown.join(', ')}, which none has`;
      const known = new Set(all.flatMap((name) => Object.keys(task.agents.settings(name, {}))));
      throw new WorkbenchError('config', `expected switches of agents of ${group}, got ${got}, at ${word}`, {
        hint: `They have ${[...known].join(', ')}.`,
      });
    }
    throw new WorkbenchError('usage', `expected agents on ${task.name}, got none, at ${word}`, {
      hint: `Agents on ${task.name}: ${task.agents.names().join(', ')}.`,
    });
  }
  const leftOut = (some: readonly string[], why: string) => {
    if (some.length > 0) note(`${word}: without ${some.join(', ')}: ${why}`);
  };
  leftOut(
    all.filter((name) => !suited.includes(name)),
    `not with ${flags.model}`,
  );
  leftOut(
    suited.filter((name) => !having.includes(name)),
    'no such switch',
  );
  having.forEach((name, i) => leftOut(missing[i]!.length > 0 ? [name] : [], `name it with ${missing[i]!.join(', ')}`));
  return members.map((name) => name + switches);
}

/** An agent once for every way to choose; once where it asks no model, or there are not several. */
export function inEveryWay({ agents }: Known, name: string, ways: readonly Choices[]): Named[] {
  const several = ways.length > 1 && agents.has(name) && agents.asksModel(name);
  return several ? ways.map((choices) => ({ name, choices })) : [{ name }];
}
