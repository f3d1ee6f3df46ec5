/** What people call things for short. */
import type { EntityType } from './schema.js';
import { people } from './schema.js';
import { things } from './plain-words.js';

/** The name without the bracket that tells homonyms apart. */
export const plainName = (name: string): string => name.replace(/ \((?:film|novel)\)$/, '');

/**
 * Short names, the most usual first; empty for things that nobody shortens. They are not unique: a film and the book it was made from
 * share their title, relatives their family name.
 */
export function aliasesOf(type: EntityType, name: string): string[] {
  const plain = plainName(name);
  const short = shortened(type, plain).filter((alias) => alias !== name);
  return [...new Set(plain === name ? short : [plain, ...short])];
}

function shortened(type: EntityType, name: string): string[] {
  const words = name.split(' ');
  if ((people as readonly EntityType[]).includes(type)) return [words[1]!];
  if (type === 'team') return [`the ${words.slice(1).join(' ')}`];
  if (type === 'studio' || type === 'league' || type === 'stadium') return [words[0]!];
  if (type === 'award') return [`the ${words[0]}`];
  if (type === 'band') return [/ & /.test(name) ? words.slice(2).join(' ') : words[1]!];
  if (type !== 'film' && type !== 'book' && type !== 'album' && type !== 'song') return [];
  if (/^(?:The|A) /.test(name))
    return [words.slice(1).join(' '), `the ${words[words[0] === 'A' || words.length > 3 ? 1 : 2]!}`];
  const invented = words.map((word) => word.replace(/,$/, '')).find((word) => !ordinary.has(word.replace(/s$/, '')));
  return invented === undefined || invented === name ? [] : [invented];
}

/** Words of titles that are not invented. */
const ordinary: ReadonlySet<string> = new Set(
  `${things.join(' ')} Leaving Rising Last Goodbye Letter and the Under Skie of to in from Blue Dancing with My Hey Tonight Song for & Session`.split(
    ' ',
  ),
);
