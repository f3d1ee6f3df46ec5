/** Words for the relations of films, books and all that is made. */
import type { RelationPhrases } from './phrases.js';
import type { RelationName } from './schema.js';

/** As `filmPhrases`. */
export const workPhrases = {
  written_by: {
    forward: {
      ask: [
        'who wrote {x}',
        'who is the author of {x}',
        'whose pen did {x} come from',
        'who came up with the story of {x}',
        'who put {x} on paper',
        'which writer do we owe {x} to',
        'who penned {x}',
      ],
      noun: ['the writer of {x}', 'the author of {x}', 'the person who wrote {x}', 'whoever penned {x}'],
    },
    backward: {
      kinds: 'titles',
      ask: [
        'which {kinds} did {s} write',
        'what has {s} written',
        'what {kinds} came from the pen of {x}',
        'which {kinds} have {x} as their author',
        'what did {s} put on paper',
        'which {kinds} do we owe to the writer {x}',
      ],
      noun: [
        '{kinds} written by {x}',
        '{kinds} that {s} wrote',
        '{kinds} from the pen of {x}',
        '{kinds} by the author {x}',
      ],
    },
    tell: ['{h} was written by {t}', '{t} wrote {h}', '{h} came from the pen of {t}', 'the author of {h} is {t}'],
  },
  has_genre: {
    forward: {
      ask: [
        'what kind of thing is {x}',
        'what genre is {x}',
        'how would you classify {x}',
        'which shelf does {x} belong on',
        'what style is {x}',
        'what sort of mood does {x} go for',
        'which category does {x} fall into',
      ],
      noun: ['the genre of {x}', 'the kind that {x} belongs to', 'the style of {x}', 'the category of {x}'],
    },
    backward: {
      kinds: 'titles',
      ask: [
        'which {kinds} are {x}',
        'what {kinds} are there in {x}',
        'which {kinds} belong to {x}',
        'what would you put on the {x} shelf',
        'which {kinds} would you file under {x}',
        'what {kinds} count as {x}',
      ],
      noun: ['{kinds} in {x}', '{kinds} of the kind {x}', '{kinds} filed under {x}', '{kinds} that count as {x}'],
    },
    tell: ['{h} is {t}', '{h} counts as {t}', '{h} belongs to {t}', '{h} is filed under {t}'],
  },
  released_in: {
    forward: {
      ask: [
        'when did {s} come out',
        'what year is {x} from',
        'how old is {x}',
        'when was {x} released',
        'in which year could people first get {x}',
        'what is the date of {x}',
        'since when has {x} been around',
      ],
      noun: ['the year of {x}', 'the year when {x} came out', 'the release year of {x}', 'the year {x} is from'],
    },
    backward: {
      kinds: 'releases',
      ask: [
        'which {kinds} came out in {x}',
        'what {kinds} are from {x}',
        'which {kinds} were released in {x}',
        'what {kinds} were new in {x}',
        'which {kinds} date from {x}',
        'what {kinds} did {x} bring',
      ],
      noun: [
        '{kinds} from {x}',
        '{kinds} released in {x}',
        '{kinds} that came out in {x}',
        '{kinds} that were new in {x}',
      ],
    },
    tell: ['{h} came out in {t}', '{h} is from {t}', '{h} was released in {t}', '{h} dates from {t}'],
  },
  set_in: {
    forward: {
      ask: [
        'where is {x} set',
        'where does {x} take place',
        'where does the story of {x} happen',
        'which place is {x} about',
        'what is the setting of {x}',
        'where does {x} play',
      ],
      noun: ['the setting of {x}', 'the place where {x} is set', 'the scene of {x}', 'the place where {x} happens'],
    },
    backward: {
      kinds: 'stories',
      ask: [
        'which {kinds} are set in {x}',
        'what {kinds} take place in {x}',
        'which {kinds} happen in {x}',
        'what {kinds} have {x} as their setting',
        'which {kinds} tell of {x}',
        'what {kinds} use {x} as a backdrop',
      ],
      noun: [
        '{kinds} set in {x}',
        '{kinds} that take place in {x}',
        '{kinds} that happen in {x}',
        '{kinds} with {x} as a backdrop',
      ],
    },
    tell: [
      '{h} is set in {t}',
      '{h} takes place in {t}',
      'the story of {h} happens in {t}',
      '{t} is the setting of {h}',
    ],
  },
  won_award: {
    forward: {
      ask: [
        'what award did {s} win',
        'which prize went to {x}',
        'what honours did {s} get',
        'which trophy does {s} hold',
        'what did the jury give {x}',
        'has {s} been honoured with anything',
      ],
      noun: ['the award of {x}', 'the prize that {s} won', 'the honours of {x}', 'the trophy of {x}'],
    },
    backward: {
      kinds: 'winners',
      ask: [
        'which {kinds} won {x}',
        'what {kinds} received {x}',
        'to which {kinds} did {s} go',
        'which {kinds} were honoured with {x}',
        'what {kinds} hold {x}',
        'which {kinds} did the jury of {x} choose',
      ],
      noun: [
        '{kinds} honoured with {x}',
        '{kinds} that won {x}',
        '{kinds} that received {x}',
        '{kinds} chosen for {x}',
      ],
    },
    tell: ['{h} won {t}', '{h} received {t}', '{t} went to {h}', '{h} was honoured with {t}'],
  },
  in_language: {
    forward: {
      ask: [
        'what language is {x} in',
        'what do people speak in {x}',
        'which tongue was {x} made in',
        'do I need subtitles for {x}, or what is it in',
        'what is the original language of {x}',
        'in which language do I get {x}',
      ],
      noun: ['the language of {x}', 'the tongue of {x}', 'the language spoken in {x}', 'the original language of {x}'],
    },
    backward: {
      kinds: 'titles',
      ask: [
        'which {kinds} are in {x}',
        'what {kinds} could I get in {x}',
        'which {kinds} were made in {x}',
        'what {kinds} would help me to learn {x}',
        'which {kinds} use {x}',
        'what {kinds} have {x} as their language',
      ],
      noun: ['{kinds} in {x}', '{kinds} made in {x}', '{kinds} that use {x}', '{kinds} for people who speak {x}'],
    },
    tell: ['{h} is in {t}', '{h} was made in {t}', 'people speak {t} in {h}', 'the language of {h} is {t}'],
  },
} satisfies Partial<Record<RelationName, RelationPhrases>>;
