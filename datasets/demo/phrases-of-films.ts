/** Words for the relations of films. */
import type { RelationPhrases } from './phrases.js';
import type { RelationName } from './schema.js';

/** By relation and direction; `Phrases` says what the parts are. */
export const filmPhrases = {
  directed_by: {
    forward: {
      ask: [
        'who directed {x}',
        'who was behind the camera for {x}',
        'whose film is {x}',
        'who was the director of {x}',
        'who called the shots on {x}',
        'which director made {x}',
        'who was in the director’s chair for {x}',
      ],
      noun: [
        'the director of {x}',
        'the person who directed {x}',
        'whoever was behind the camera for {x}',
        'the filmmaker of {x}',
      ],
    },
    backward: {
      ask: [
        'which films did {s} direct',
        'what has {s} shot as a director',
        'what did {s} make behind the camera',
        'which films have {x} as their director',
        'where was {s} in the director’s chair',
        'what can I see that {s} directed',
      ],
      noun: [
        'films directed by {x}',
        'films that {s} directed',
        'films with {x} behind the camera',
        'films by the director {x}',
      ],
    },
    tell: [
      '{h} was directed by {t}',
      '{t} directed {h}',
      '{t} was behind the camera for {h}',
      'the director of {h} is {t}',
    ],
  },
  starring: {
    forward: {
      ask: [
        'who starred in {x}',
        'who is in the cast of {x}',
        'who plays in {x}',
        'which actors appear in {x}',
        'whose faces do we see in {x}',
        'who acts in {x}',
        'who had a part in {x}',
      ],
      noun: ['the actors of {x}', 'the cast of {x}', 'people who appear in {x}', 'the stars of {x}'],
    },
    backward: {
      ask: [
        'which films does {s} appear in',
        'what has {s} acted in',
        'where have I seen {x} on the screen',
        'which films have {x} in the cast',
        'what did {s} star in',
        'in what did {s} play a part',
      ],
      noun: [
        'films with {x} in the cast',
        'films starring {x}',
        'films that {s} acted in',
        'films in which {s} appears',
      ],
    },
    tell: ['{h} stars {t}', '{t} appears in {h}', '{t} is in the cast of {h}', '{t} acted in {h}'],
  },
  based_on: {
    forward: {
      ask: [
        'which book is {x} based on',
        'what was {x} adapted from',
        'which novel is behind {x}',
        'what did people read before {x} was filmed',
        'where does the plot of {x} come from',
        'what is the source of {x}',
      ],
      noun: [
        'the book behind {x}',
        'the novel that {x} was adapted from',
        'the source of {x}',
        'the book that {x} is based on',
      ],
    },
    backward: {
      ask: [
        'which film was made from {x}',
        'what film is based on {x}',
        'how did {x} reach the screen',
        'which adaptation is there of {x}',
        'what did the cinema turn {x} into',
        'under what title was {x} filmed',
      ],
      noun: ['the film made from {x}', 'the adaptation of {x}', 'the film based on {x}', 'the screen version of {x}'],
    },
    tell: ['{h} is based on {t}', '{h} was adapted from {t}', '{t} was filmed as {h}', '{t} is the book behind {h}'],
  },
  produced_by: {
    forward: {
      ask: [
        'which studio produced {x}',
        'who paid for {x}',
        'which company is behind {x}',
        'whose logo comes up before {x}',
        'which studio was {x} made at',
        'who financed {x}',
      ],
      noun: ['the studio of {x}', 'the company that produced {x}', 'the studio behind {x}', 'the producers of {x}'],
    },
    backward: {
      ask: [
        'which films did {s} produce',
        'what has the studio {x} put out',
        'which films were made at {x}',
        'what did {s} finance',
        'which films carry the logo of {x}',
        'which productions come from {x}',
      ],
      noun: ['films produced by {x}', 'films made at {x}', 'films from the studio {x}', 'productions of {x}'],
    },
    tell: ['{h} was produced by {t}', '{t} produced {h}', '{h} was made at {t}', '{t} paid for {h}'],
  },
} satisfies Partial<Record<RelationName, RelationPhrases>>;
