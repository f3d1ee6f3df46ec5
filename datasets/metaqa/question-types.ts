/** MetaQA's question types, which spell the gold chain: `actor_to_movie_to_year`. */
import { inverseName } from '../../src/kg/graph.js';

/** The relation of `kb.txt` from a film to what the type calls a role. */
const relationOfRole: Readonly<Record<string, string>> = {
  actor: 'starred_actors',
  director: 'directed_by',
  writer: 'written_by',
  genre: 'has_genre',
  language: 'in_language',
  year: 'release_year',
  tag: 'has_tags',
  tags: 'has_tags',
  imdbrating: 'has_imdb_rating',
  imdbvotes: 'has_imdb_votes',
};

/**
 * `actor_to_movie_to_year` → `~starred_actors`, `release_year`: towards a film the role's relation is walked backwards. Undefined
 * for a type that is not made of films and known roles in turn.
 */
export function chainOfType(type: string): string[] | undefined {
  const roles = type.split('_to_');
  const chain = roles.slice(1).map((to, index) => {
    const from = roles[index]!;
    if ((from === 'movie') === (to === 'movie')) return undefined;
    const role = from === 'movie' ? to : from;
    const relation = Object.hasOwn(relationOfRole, role) ? relationOfRole[role]! : undefined;
    return relation && (from === 'movie' ? relation : inverseName(relation));
  });
  return chain.length > 0 && chain.every((relation) => relation !== undefined) ? chain : undefined;
}

/** Types that the hold-out `type` keeps for test: 5 of two hops, 4 of three; each of their relations is in train. */
export const heldTypes: readonly string[] = [
  'actor_to_movie_to_genre',
  'director_to_movie_to_actor',
  'director_to_movie_to_language',
  'writer_to_movie_to_genre',
  'writer_to_movie_to_language',
  'movie_to_actor_to_movie_to_writer',
  'movie_to_director_to_movie_to_language',
  'movie_to_director_to_movie_to_year',
  'movie_to_writer_to_movie_to_language',
];
