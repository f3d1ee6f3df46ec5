import { expect, test } from '@jest/globals';
import { shortestChains } from '../../../evaluation/oracle/question-facts.js';
import { graphOf } from '../../fixtures/toy-walks.js';
import { films, id } from './film-oracle.js';

const named = (chains: number[][]) => chains.map((chain) => chain.map((relation) => films.relationNames[relation]!));
const between = (topics: string[], answers: string[], maxHops?: number) =>
  named(shortestChains(films, topics.map(id), new Set(answers.map(id)), topics.map(id), maxHops));

test('the shortest way to the nearest answer counts, longer ones do not', () => {
  expect(between(['juno'], ['reitman', 'nolan'])).toEqual([['directed_by']]);
  expect(between(['tenet'], ['hardy'])).toEqual([['directed_by', '~directed_by', 'starring']]);
});

test('of ways of one length the more exact comes first', () => {
  // page → inception and juno; nolan → inception, tenet and dunkirk.
  expect(between(['page', 'nolan'], ['inception', 'juno'])).toEqual([['~starring'], ['~directed_by']]);
});

test('what is out of reach has no chain', () => {
  expect(between(['tenet'], ['hardy'], 2)).toEqual([]);
  expect(shortestChains(films, [-1], new Set([id('juno')]), [])).toEqual([]);
  expect(shortestChains(films, [id('juno')], new Set(), [])).toEqual([]);
});

test('parallel relations are separate chains, in the order of their ids', () => {
  const graph = graphOf('parallel', [
    ['a', 'one', 'b'],
    ['a', 'two', 'b'],
  ]);
  expect(shortestChains(graph, [0], new Set([1]), [0])).toEqual([[0], [1]]);
});
