/** Releases of a dozen films, in every format that the examples import, with the entities that they ask about. */
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { executeChain } from '../../src/kg/frontier.js';
import { inverseName } from '../../src/kg/graph.js';
import { chainOfType } from '../../datasets/metaqa/import.js';
import { choose, csvOf, say } from '../fixtures/tiny-release.js';
import { graphOf } from '../fixtures/toy-walks.js';

const films: [film: string, director: string, actor: string, year: string, genre: string][] = [
  ['Inception', 'Christopher Nolan', 'Leonardo DiCaprio', '2010', 'Thriller'],
  ['Tenet', 'Christopher Nolan', 'John David Washington', '2020', 'Thriller'],
  ['Dunkirk', 'Christopher Nolan', 'Tom Hardy', '2017', 'War'],
  ['Big', 'Penny Marshall', 'Tom Hanks', '1988', 'Comedy'],
  ['Cast Away', 'Robert Zemeckis', 'Tom Hanks', '2000', 'Drama'],
  ['Forrest Gump', 'Robert Zemeckis', 'Tom Hanks', '1994', 'Comedy'],
  ['Alien', 'Ridley Scott', 'Sigourney Weaver', '1979', 'Horror'],
  ['Gladiator', 'Ridley Scott', 'Russell Crowe', '2000', 'Drama'],
  ['Titanic', 'James Cameron', 'Leonardo DiCaprio', '1997', 'Drama'],
  ['Aliens', 'James Cameron', 'Sigourney Weaver', '1986', 'Horror'],
];

const facts = films.flatMap(([film, director, actor, year, genre]) => [
  [film, 'directed_by', director] as const,
  [film, 'starred_actors', actor] as const,
  [film, 'release_year', year] as const,
  [film, 'has_genre', genre] as const,
]);

const linesOf = (separator: string) => facts.map((fact) => `${fact.join(separator)}\n`).join('');

/** By MetaQA's name of what the chain passes; `[E]` stands for the topic. Some fall into each part of every hold-out. */
const templates: Readonly<Record<string, readonly string[]>> = {
  movie_to_director: ['who directed [E]', '[E] was directed by who'],
  movie_to_year: ['when was [E] released', 'the release year of [E]', 'in which year was [E] released'],
  director_to_movie: ['what films did [E] direct', 'which films are by [E]'],
  actor_to_movie: ['what films did [E] star in'],
  actor_to_movie_to_director: ['who directed the films that [E] starred in', 'whose films did [E] star in'],
  actor_to_movie_to_genre: ['what genres do the films with [E] have'],
  director_to_movie_to_genre: ['what genres do the films directed by [E] have', 'which genres are the films of [E]'],
  director_to_movie_to_actor: ['who starred in the films of [E]'],
  movie_to_director_to_movie: ['which films share a director with [E]', 'what else did the director of [E] direct'],
  movie_to_director_to_movie_to_year: ['when were the films by the director of [E] released'],
  movie_to_actor_to_movie_to_genre: ['what genres have the films with the actors of [E]'],
  movie_to_actor_to_movie_to_director: ['who directed films with the actors of [E]', 'the directors of [E]’s actors'],
};

/** The files of a release in this format. @param given files of the reader's own, which stand in for ours */
export function releaseOf(format: string, given: Readonly<Record<string, string>> = {}): Record<string, string> {
  if (format === 'opendialkg') return openDialKg();
  if (format === 'metaqa') return metaQa();
  if (format === 'capitals') return { 'capitals.tsv': given['capitals.tsv']! };
  if (format === 'triples') return { ...tinyLinkFiles };
  if (format === 'custom') {
    return { 'triples.tsv': linesOf('\t').replaceAll('release_year', 'released'), ...customQuestions(), ...given };
  }
  throw new Error(`an example imports ${format}: make a small release of it here`);
}

/** Dialogues about one film each: its director, then one of his films or its year. */
function openDialKg(): Record<string, string> {
  const dialogues = films.map(([film, director, , year], i) => [
    say('user', `Who directed ${film}?`),
    choose('assistant', [film, 'directed_by', director]),
    say('assistant', `${director} did.`),
    say('user', i % 2 === 0 ? 'When was it released?' : 'What else did he make?'),
    i % 2 === 0
      ? choose('assistant', [film, 'release_year', year])
      : choose('assistant', [director, '~directed_by', film], [film, 'release_year', year]),
  ]);
  const lines = facts.flatMap(([h, r, t]) => [`${h}\t${r}\t${t}`, `${t}\t${inverseName(r)}\t${h}`]);
  const triples = `${lines.join('\n')}\n`;
  return {
    'train.csv': csvOf(dialogues.slice(0, 6)),
    'valid.csv': csvOf(dialogues.slice(6, 8)),
    'test.csv': csvOf(dialogues.slice(8)),
    'opendialkg_triples.txt': triples,
    'opendialkg_triples_wide.txt': `${triples}Los Angeles\tlies_in\tCalifornia\nTom Hardy\tborn_in\tLondon\n`,
  };
}

interface Asked {
  type: string;
  hops: number;
  question: string;
  answers: string[];
}

/** Every template about everything it can be asked of. */
function questions(): Asked[] {
  const graph = graphOf('kb', [...facts, ...facts.map(([h, r, t]) => [t, inverseName(r), h] as const)]);
  return Object.entries(templates).flatMap(([type, texts]) => {
    const relations = chainOfType(type)!.map((name) => graph.relationId(name));
    return graph.entityNames.flatMap((topic) => {
      const { entities } = executeChain(graph, [graph.entityId(topic)], relations);
      const answers = Array.from(entities, (entity) => graph.entityNames[entity]!);
      if (answers.length === 0) return [];
      return texts.map((text) => ({
        type,
        hops: relations.length,
        question: text.replace('[E]', `[${topic}]`),
        answers,
      }));
    });
  });
}

function customQuestions(): Record<string, string> {
  const lines = questions().map(({ question, answers, hops }) => `${JSON.stringify({ question, answers, hops })}\n`);
  return { 'questions.jsonl': lines.join('') };
}

/** Dev files alone, as they may be had: they are split by hash. */
function metaQa(): Record<string, string> {
  const files: Record<string, string> = { 'kb.txt': linesOf('|') };
  for (const hops of [1, 2, 3]) {
    const asked = questions().filter((question) => question.hops === hops);
    const lines = asked.map(({ question, answers }) => `${question}\t${answers.join('|')}\n`);
    files[`${hops}-hop/qa_dev.txt`] = lines.join('');
    files[`${hops}-hop/qa_dev_qtype.txt`] = asked.map(({ type }) => `${type}\n`).join('');
  }
  return files;
}
