/** Words for the relations of sports and places. */
import type { RelationPhrases } from './phrases.js';
import type { RelationName } from './schema.js';

/** As `filmPhrases`. */
export const placePhrases = {
  based_in: {
    forward: {
      ask: [
        'where is {s} based',
        'where is {s} at home',
        'which place does {s} come from',
        'where would I find the offices of {x}',
        'what is the home town of {x}',
        'where did {s} start out',
      ],
      noun: [
        'the home of {x}',
        'the place where {s} is based',
        'the home town of {x}',
        'the place that {s} comes from',
      ],
    },
    backward: {
      kinds: 'groups and companies',
      ask: [
        'which {kinds} are based in {x}',
        'what {kinds} come from {x}',
        'which {kinds} call {x} home',
        'what {kinds} have their seat in {x}',
        'which {kinds} started out in {x}',
        'what {kinds} are at home in {x}',
      ],
      noun: [
        '{kinds} based in {x}',
        '{kinds} from {x}',
        '{kinds} that call {x} home',
        '{kinds} with their seat in {x}',
      ],
    },
    tell: ['{h} is based in {t}', '{h} comes from {t}', '{t} is the home of {h}', '{h} started out in {t}'],
  },
  plays_for: {
    forward: {
      ask: [
        'which team does {s} play for',
        'whose shirt does {s} wear',
        'what club is {s} with',
        'who signed {x}',
        'who pays the wages of {x}',
        'on which side is {s}',
      ],
      noun: ['the team of {x}', 'the club of {x}', 'the side that {s} plays for', 'the team that signed {x}'],
    },
    backward: {
      ask: [
        'who plays for {x}',
        'who is on the squad of {x}',
        'which athletes wear the shirt of {x}',
        'whom did {s} sign',
        'who is on the roster of {x}',
        'which players does {s} have',
      ],
      noun: ['the players of {x}', 'athletes of {x}', 'people who wear the shirt of {x}', 'the squad of {x}'],
    },
    tell: ['{h} plays for {t}', '{t} signed {h}', '{h} wears the shirt of {t}', '{h} is on the roster of {t}'],
  },
  competes_in: {
    forward: {
      ask: [
        'which league is {x} in',
        'what competition does {s} play in',
        'where does {s} compete',
        'in which table do I find {x}',
        'what division is {x} part of',
        'whose title does {s} fight for',
      ],
      noun: ['the league of {x}', 'the competition of {x}', 'the league that {s} plays in', 'the division of {x}'],
    },
    backward: {
      ask: [
        'which teams are in {x}',
        'who competes in {x}',
        'what clubs fight for the title of {x}',
        'which teams stand in the table of {x}',
        'who takes part in {x}',
        'which sides make up {x}',
      ],
      noun: ['teams in {x}', 'the clubs of {x}', 'teams that compete in {x}', 'the sides of {x}'],
    },
    tell: ['{h} competes in {t}', '{h} plays in {t}', '{t} has {h} in its table', '{h} is one of the teams of {t}'],
  },
  home_ground: {
    forward: {
      ask: [
        'where does {s} play at home',
        'what is the home ground of {x}',
        'which stadium belongs to {x}',
        'where do the fans of {x} go on match day',
        'what stadium does {s} use',
        'where would I watch a home game of {x}',
      ],
      noun: ['the stadium of {x}', 'the home ground of {x}', 'the place where {s} plays at home', 'the arena of {x}'],
    },
    backward: {
      ask: [
        'which team plays at {x}',
        'who is at home at {x}',
        'whose stadium is {x}',
        'which club uses {x}',
        'what team do they cheer for at {x}',
        'who hosts guests at {x}',
      ],
      noun: ['the team that plays at {x}', 'the club of {x}', 'the home side of {x}', 'the team at home at {x}'],
    },
    tell: ['{h} plays at {t}', '{t} is the home ground of {h}', '{h} is at home at {t}', 'the stadium of {h} is {t}'],
  },
  located_in: {
    forward: {
      ask: [
        'where is {x}',
        'where on the map is {x}',
        'which place is {x} in',
        'where would I have to travel to see {x}',
        'where does {s} lie',
        'in what part of the world is {x}',
      ],
      noun: ['the place where {x} lies', 'the location of {x}', 'the place that {x} is in', 'the place around {x}'],
    },
    backward: {
      kinds: 'places',
      ask: [
        'which {kinds} are in {x}',
        'what {kinds} can I visit in {x}',
        'which {kinds} lie in {x}',
        'what {kinds} does {s} have',
        'which {kinds} would I see on a map of {x}',
        'what {kinds} are found in {x}',
      ],
      noun: ['{kinds} in {x}', '{kinds} that lie in {x}', '{kinds} found in {x}', '{kinds} on a map of {x}'],
    },
    tell: ['{h} is in {t}', '{h} lies in {t}', '{h} is found in {t}', '{t} is where {h} lies'],
  },
  born_in: {
    forward: {
      ask: [
        'where was {s} born',
        'where did {s} grow up',
        'what is the birthplace of {x}',
        'where is {s} from originally',
        'where did the life of {x} begin',
        'which place may call {x} its child',
      ],
      noun: [
        'the birthplace of {x}',
        'the place where {s} was born',
        'the place where {s} grew up',
        'the first home of {x}',
      ],
    },
    backward: {
      kinds: 'people',
      ask: [
        'which {kinds} were born in {x}',
        'what {kinds} grew up in {x}',
        'which {kinds} are from {x} originally',
        'which {kinds} have {x} as their birthplace',
        'what {kinds} did {x} bring forth',
        'which {kinds} began life in {x}',
      ],
      noun: [
        '{kinds} born in {x}',
        '{kinds} who grew up in {x}',
        '{kinds} from {x}',
        '{kinds} whose birthplace is {x}',
      ],
    },
    tell: ['{h} was born in {t}', '{h} grew up in {t}', '{t} is the birthplace of {h}', '{h} is from {t} originally'],
  },
  plays_sport: {
    forward: {
      ask: [
        'what sport does {s} play',
        'which game is {s} known for',
        'what is {s} all about, as a sport',
        'which sport is {s} in',
        'what do they play when it is about {x}',
        'in what discipline is {s}',
      ],
      noun: ['the sport of {x}', 'the game that {s} plays', 'the discipline of {x}', 'the sport that {s} is in'],
    },
    backward: {
      kinds: 'athletes and leagues',
      ask: [
        'which {kinds} are in {x}',
        'what {kinds} are there in {x}',
        'which {kinds} does {x} have',
        'which {kinds} are known for {x}',
        'what {kinds} are about {x}',
        'which {kinds} should a fan of {x} know',
      ],
      noun: [
        '{kinds} in {x}',
        '{kinds} known for {x}',
        '{kinds} of the discipline {x}',
        '{kinds} that fans of {x} know',
      ],
    },
    tell: ['{h} plays {t}', '{h} is known for {t}', '{h} is in {t}', 'the sport of {h} is {t}'],
  },
} satisfies Partial<Record<RelationName, RelationPhrases>>;
