/** Words for the relations of music. */
import type { RelationPhrases } from './phrases.js';
import type { RelationName } from './schema.js';

/** As `filmPhrases`. */
export const musicPhrases = {
  performed_by: {
    forward: {
      ask: [
        'who sings {x}',
        'who recorded {x}',
        'which band do I hear on {x}',
        'whose music is {x}',
        'who performs {x}',
        'who brought out {x}',
      ],
      noun: ['the performer of {x}', 'the band that recorded {x}', 'the artists of {x}', 'whoever sings {x}'],
    },
    backward: {
      kinds: 'recordings',
      ask: [
        'which {kinds} did {s} record',
        'what {kinds} are by {x}',
        'what can I listen to from {x}',
        'which {kinds} does {s} perform',
        'what {kinds} did {s} bring out',
        'what has {s} sung',
      ],
      noun: ['{kinds} by {x}', '{kinds} recorded by {x}', '{kinds} that {s} performed', '{kinds} from {x}'],
    },
    tell: ['{h} is by {t}', '{t} recorded {h}', '{h} was performed by {t}', '{t} brought out {h}'],
  },
  on_album: {
    forward: {
      ask: [
        'which album is {x} on',
        'what record has {x}',
        'where do I find the track {x}',
        'which record should I buy to hear {x}',
        'on what album does {x} appear',
        'what album is {x} taken from',
      ],
      noun: [
        'the album with {x}',
        'the record that {x} is on',
        'the album that {x} is taken from',
        'the record with the track {x}',
      ],
    },
    backward: {
      ask: [
        'which songs are on {x}',
        'what are the tracks of {x}',
        'what do I hear when I put on {x}',
        'which songs were put on {x}',
        'what is on the track list of {x}',
        'which songs does {x} have',
      ],
      noun: ['songs on {x}', 'the tracks of {x}', 'songs taken from {x}', 'songs that {x} has'],
    },
    tell: ['{h} is on {t}', '{h} is a track of {t}', '{t} has the song {h}', '{h} is taken from {t}'],
  },
  member_of: {
    forward: {
      ask: [
        'which band is {s} in',
        'who does {s} make music with',
        'which group did {s} join',
        'what band does {s} belong to',
        'with which band is {s} on stage',
        'what is the band of {x}',
      ],
      noun: ['the band of {x}', 'the group that {s} joined', 'the band that {s} is in', 'the group of {x}'],
    },
    backward: {
      ask: [
        'who is in {x}',
        'which musicians make up {x}',
        'who are the members of {x}',
        'who joined {x}',
        'who is on stage with {x}',
        'what is the line-up of {x}',
      ],
      noun: ['the members of {x}', 'the musicians of {x}', 'people who joined {x}', 'the line-up of {x}'],
    },
    tell: ['{h} is a member of {t}', '{h} plays with {t}', '{h} joined {t}', '{t} has {h} in the line-up'],
  },
} satisfies Partial<Record<RelationName, RelationPhrases>>;
