/** What people say around the point: openings, wishes, chatter. `{x}` is a name, `{v}` a value, `{kind}` and `{kinds}` what is looked for. */
import type { Direction, EntityType } from './schema.js';

/** What one and several of a type are called. */
export const kindNames: Record<EntityType, readonly [one: string, several: string]> = {
  film: ['film', 'films'],
  book: ['book', 'books'],
  song: ['song', 'songs'],
  album: ['album', 'albums'],
  band: ['band', 'bands'],
  actor: ['actor', 'actors'],
  director: ['director', 'directors'],
  writer: ['writer', 'writers'],
  musician: ['musician', 'musicians'],
  athlete: ['player', 'players'],
  team: ['team', 'teams'],
  league: ['league', 'leagues'],
  stadium: ['stadium', 'stadiums'],
  city: ['city', 'cities'],
  country: ['country', 'countries'],
  genre: ['genre', 'genres'],
  style: ['style', 'styles'],
  sport: ['sport', 'sports'],
  award: ['award', 'awards'],
  studio: ['studio', 'studios'],
  year: ['year', 'years'],
  language: ['language', 'languages'],
};

const ofPeople = [
  'I keep hearing about {x}.',
  'A friend of mine adores {x}.',
  'I read something about {x} today.',
  'I have always liked {x}.',
  'They spoke of {x} on the radio.',
  'The name {x} came up at dinner.',
];
const ofThings = [
  'I have been thinking about {x}.',
  'I came across {x} the other day.',
  'I want to know more about {x}.',
];
const ofMusic = [
  'I cannot stop listening to {x}.',
  'They played {x} at the party.',
  'I put on {x} while cooking.',
  '{x} has been in my head all day.',
  'My neighbour plays {x} every morning.',
];
const ofTeams = [
  'I follow {x}.',
  'We went to see {x} on Saturday.',
  '{x} made me nervous again.',
  'My whole family cheers for {x}.',
];
const ofFilms = [
  'I watched {x} last night.',
  'We saw {x} at the weekend.',
  'I finally got round to {x}.',
  '{x} was on television again.',
  'I fell asleep over {x}, to my shame.',
  'I am a big fan of {x}.',
];
const ofBooks = [
  'I just finished {x}.',
  'I am halfway through {x}.',
  'Somebody lent me {x}.',
  'Our reading circle chose {x}.',
  'I could not put down {x}.',
  'I read {x} on the train.',
];

/** How a conversation comes to something. */
export const openings: Partial<Record<EntityType, readonly string[]>> & { other: readonly string[] } = {
  film: ofFilms,
  book: ofBooks,
  song: ofMusic,
  album: ofMusic,
  band: ofMusic,
  actor: ofPeople,
  director: ofPeople,
  writer: ofPeople,
  musician: ofPeople,
  athlete: ofPeople,
  team: ofTeams,
  other: ofThings,
};

/** Before a question that comes first, or later. */
export const leads = {
  first: ['', '', 'Hello! ', 'Hi, ', 'Good evening. ', 'Maybe you can help me: ', 'Tell me, '],
  later: [
    '',
    '',
    '',
    'And ',
    'So ',
    'Okay, ',
    'One more thing: ',
    'Tell me, ',
    'By the way, ',
    'Now I am curious, ',
    'Thanks. ',
  ],
};

/** When the talk turns back to something. */
export const returns = [
  'Back to {x}: ',
  'About {x} again, ',
  'Coming back to {x}, ',
  'You mentioned {x}; ',
  'I still have {x} on my mind. ',
];

/** Things said by the way about something that is not asked for. */
export const asides = [
  'My sister prefers {x}, but never mind.',
  '{x} can wait.',
  'I am not asking about {x} for once.',
  'Yesterday it was all about {x}.',
  'A colleague will not stop talking about {x}.',
  'It reminded me a little of {x}.',
];

/** Ruling one out. */
export const exclusions = [
  '{x} I know already.',
  'Anything but {x}.',
  'Not {x} again, please.',
  'I do not mean {x}.',
  'Apart from {x}, that is.',
];

/** Guessing the answer. */
export const guesses = [
  'Was it {x}?',
  'I believe it had to do with {x}.',
  'Could it be {x}?',
  'Somebody told me {x}, is that right?',
  'My guess is {x}.',
];

/** Nothing in particular is asked. */
export const vague = [
  'what can you tell me about {x}?',
  'tell me something about {x}.',
  'do you know {x}?',
  'what should I know about {x}?',
  'any thoughts on {x}?',
];

/** Asking for one more of a kind; `{same}` says in what it is to be like. */
export const requests = [
  'can you recommend another {kind} {same}',
  'is there another {kind} {same}',
  'do you have one more {kind} {same}',
  'are there other {kinds} {same}',
  'could you name a {kind} {same}',
  'what would be another {kind} {same}',
];

/** In what something may be like another thing: along the relation and back. */
export const sameness: Partial<Record<Direction, readonly string[]>> = {
  directed_by: ['by the same director', 'from the same hand', 'by whoever made {x}', 'by the filmmaker of {x}'],
  starring: [
    'with someone from that cast',
    'with one of the same actors',
    'with a familiar face from {x}',
    'with a star of {x}',
  ],
  written_by: ['by the same author', 'from the same pen', 'by whoever wrote {x}'],
  has_genre: ['in the same vein', 'of the same kind', 'with a similar mood', 'like {x}'],
  released_in: ['from the same year', 'just as old', 'of the same age as {x}'],
  set_in: ['set in the same place', 'with the same setting', 'that happens where {x} happens'],
  produced_by: ['from the same studio', 'by the same company', 'that the same people paid for'],
  in_language: ['in the same language', 'in which people speak like in {x}'],
  won_award: ['that won the same prize', 'honoured in the same way'],
  performed_by: ['by the same band', 'by the same artists', 'by whoever sings {x}'],
  on_album: ['from the same record', 'off the album of {x}'],
  member_of: ['from the same band', 'who shares the stage with {x}', 'from the group of {x}'],
  based_in: ['from the same town', 'at home in the same place'],
  plays_for: ['from the same squad', 'who is a team mate of {x}', 'in the same shirt'],
  competes_in: ['from the same league', 'who is a rival of {x}', 'in the same division'],
  born_in: ['from the same place', 'born in the same town as {x}'],
  plays_sport: ['in the same sport', 'with the same game'],
  '~starring': ['who shared the screen with {x}', 'who was in a cast with {x}'],
};

/** Wishes that decide between several: what the wanted one is tied to. */
export const wishes: Partial<Record<Direction, readonly string[]>> = {
  has_genre: [
    'preferably {v}',
    'I am in the mood for {v}',
    '{v} would be best',
    'make it {v}',
    'as long as it counts as {v}',
  ],
  released_in: ['something from {v}', 'it must have been around {v}', 'from {v} if I remember well', 'the one of {v}'],
  starring: ['with {v} in it', 'the one with {v}', '{v} should be in it', 'I like seeing {v}'],
  directed_by: ['the one that {v} made', 'it should be by {v}', 'with {v} in charge'],
  written_by: ['the one that {v} thought up', 'it should be by {v}', 'with the words of {v}'],
  set_in: ['the one that happens in {v}', 'with {v} as a backdrop', 'it should lead me to {v}'],
  in_language: ['I want to hear some {v}', 'in {v}, please', 'the one in {v}'],
  produced_by: ['the one with the logo of {v}', 'from {v}, I think', '{v} had a hand in it'],
  won_award: ['the one that got {v}', 'with {v} to its credit', 'it won {v}, I think'],
  performed_by: ['by {v}, please', 'I like {v}', 'with the sound of {v}'],
  on_album: ['off {v}', 'it is on {v}, I think', 'something from {v}'],
  member_of: ['the one from {v}', 'who plays with {v}', 'I mean the one in {v}'],
  based_in: ['from {v}', 'with a home in {v}', 'I mean the one from {v}'],
  plays_for: ['the one at {v}', 'who wears the shirt of {v}', 'I mean the one from {v}'],
  located_in: ['the one in {v}', 'somewhere in {v}'],
  born_in: ['the one from {v}', 'who grew up in {v}', 'a child of {v}'],
  plays_sport: ['I mean in {v}', 'it should be about {v}'],
  '~starring': ['the one who is also in {v}', 'the face from {v}', 'I know that one from {v}'],
  '~directed_by': ['the one behind {v}', 'who also made {v}'],
  '~written_by': ['the one who wrote {v}', 'who also came up with {v}'],
  '~performed_by': ['the ones who did {v}', 'I know them from {v}'],
  '~member_of': ['the one with {v}', '{v} is in it'],
};

/** Before an answer. */
export const replies = [
  '',
  '',
  'Sure. ',
  'I think ',
  'As far as I know, ',
  'That is easy: ',
  'Good question. ',
  'Of course, ',
  'Let me see: ',
  'Gladly. ',
];

/** The assistant turns the talk to something; `{noun}` is a phrase for it. */
export const prompts = [
  'Do you know {noun}?',
  'Have you come across {noun}?',
  'What about {noun}?',
  'What do you think of {noun}?',
  'Have you ever heard of {noun}?',
  'And do you remember {noun}?',
];

/** What the user says to that; `{tell}` is the fact. */
export const answers = [
  'Yes, {x}!',
  'I only know {x}.',
  'I like {x} a lot.',
  '{x} comes to mind.',
  '{tell}, right?',
  'Oh yes, {tell}.',
  'I believe {tell}.',
];

/** Between an answer and what comes next. */
export const reactions = ['', '', 'Good taste.', 'I see.', 'Nice.', 'Same here.', 'That makes sense.'];

/** Last words. */
export const farewells = [
  'Thank you, that helps.',
  'Great, thanks!',
  'I will look into that.',
  'Good to know, thank you.',
  'Lovely, I have to go now.',
  'Thanks, talk to you soon.',
];
