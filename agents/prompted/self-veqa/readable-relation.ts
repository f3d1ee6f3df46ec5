/** Relation names as words. */
import { inversePrefix } from '../../../src/kg/graph.js';

/** `~people.person.place_of_birth` → `place of birth`: what a sentence encoder can compare with a question. */
export function readableRelation(name: string): string {
  const plain = name.startsWith(inversePrefix) ? name.slice(inversePrefix.length) : name;
  const last = plain.split('.').findLast((part) => part !== '') ?? plain;
  return last.replace(/[_/\s]+/gu, ' ').trim();
}
