/** Turns moves into messages: messages grow by sentences, and paths are chosen between messages. */
import { pick, type Rng } from '../../src/run/seeds.js';
import type { Message, PathAction, Sender } from '../dialogue.js';
import type { Memory, Move } from './moves.js';
import { isPerson, plainName } from './names.js';
import type { EntityType, RelationName } from './schema.js';
import { capital, chance, fill, phrasesOf, relationWords, talk } from './words.js';
import type { DemoWorld } from './world.js';

/** Reference to an entity as object and as subject. */
type Mention = { x: string; s: string };

const asideTypes: readonly EntityType[] = ['film', 'book', 'band', 'actor', 'team', 'writer'];

/** Conversation under construction. */
export class Speech implements Memory {
  readonly messages: Message[] = [];
  readonly paths: PathAction[] = [];
  readonly topics: number[];
  readonly visited = new Set<number>();
  #sender: Sender = 'user';
  #sentences: string[] = [];

  /** @param start first topic @param anyOf draws a well-known entity of a type */
  constructor(
    readonly world: DemoWorld,
    readonly rng: Rng,
    start: number,
    readonly anyOf: (type: EntityType) => number | undefined,
  ) {
    this.topics = [start];
    this.visited.add(start);
  }

  /** User question; the assistant walks the path and answers. */
  ask(move: Move): void {
    const { rng } = this;
    this.#turnTo('user');
    const start = move.path[0]![0];
    const opening = this.messages.length === 0 && this.#sentences.length === 0;
    if (chance(rng, 0.14)) this.#aside(start);
    this.#say(opening ? this.#firstQuestion(move, start) : this.#laterQuestion(move, start));
    this.#walk(move, 'assistant');
    this.#say(capital(pick(rng, talk().replies) + this.#statement(move)) + '.');
  }

  /** Assistant question; the user walks the path and answers. */
  prompt(move: Move): void {
    const { rng } = this;
    this.#turnTo('assistant');
    const mention = this.#mention(move.path[0]![0], false);
    const noun = move.directions.reduce((inner, _, edge) => this.#noun(move, edge, inner), mention).x;
    const hint = this.#hint(move);
    this.#say(fill(pick(rng, talk().prompts), { noun }) + (hint ? ` ${capital(hint)}` : ''));
    this.#walk(move, 'user');
    const end = move.path.at(-1)![2];
    this.#say(capital(fill(pick(rng, talk().answers), { x: this.#short(end, 0.2), tell: this.#statement(move) })));
  }

  /** @param farewell last words of the other speaker */
  end(farewell: string | undefined): void {
    const last = this.#sender;
    this.#flush();
    if (farewell !== undefined) this.messages.push({ sender: last === 'user' ? 'assistant' : 'user', text: farewell });
  }

  #firstQuestion(move: Move, start: number): string {
    const { rng, world } = this;
    const mention = this.#mention(start, false);
    if (move.vague || chance(rng, 0.4)) {
      const question = capital(led(pick(rng, talk().leads.first), this.#question(move, mention)));
      if (question.includes(mention.x)) return question;
    }
    const opening = capital(fill(pick(rng, talk().openings[world.types[start]!] ?? talk().openings.other), mention));
    return `${opening} ${capital(this.#question(move, chance(rng, 0.6) ? this.#pronoun(start) : mention))}`;
  }

  #laterQuestion(move: Move, start: number): string {
    const { rng } = this;
    const mention = this.#mention(start, false);
    const recent = start === this.topics.at(-1);
    if (recent || chance(rng, 0.6)) {
      const question = this.#question(move, recent ? this.#mention(start, true) : mention);
      if (recent || question.includes(mention.x)) return capital(led(pick(rng, talk().leads.later), question));
    }
    const lead = fill(pick(rng, talk().returns), mention);
    return capital(lead + this.#question(move, chance(rng, 0.7) ? this.#pronoun(start) : mention));
  }

  /** Question with the hints about the wanted end. */
  #question(move: Move, mention: Mention): string {
    const { rng } = this;
    if (move.vague) return fill(pick(rng, talk().vague), mention);
    const core = this.#core(move, mention);
    const hint = this.#hint(move);
    if (!hint) return `${core}?`;
    return move.wish && !move.guessed && move.excluded === undefined && chance(rng, 0.5)
      ? `${core}, ${hint.replace(/\.$/, '')}?`
      : `${core}? ${capital(hint)}`;
  }

  #core(move: Move, mention: Mention): string {
    const { rng, world } = this;
    const [first, second] = move.directions;
    const [kind, kinds] = talk().kinds[world.types[move.path.at(-1)![2]]!];
    if (second === undefined) return fill(pick(rng, phrasesOf(first!).ask), { ...mention, kinds });
    const back = second === (first!.startsWith('~') ? first!.slice(1) : `~${first!}`);
    const like = talk().sameness[first!];
    if (back && like) return fill(pick(rng, talk().requests), { kind, kinds, same: fill(pick(rng, like), mention) });
    return fill(pick(rng, phrasesOf(second).ask), { ...this.#noun(move, 0, mention), kinds });
  }

  /** Noun phrase for the end of an edge, in place of its name. */
  #noun({ path, directions }: Move, edge: number, mention: Mention): Mention {
    const [, kinds] = talk().kinds[this.world.types[path[edge]![2]]!];
    const noun = fill(pick(this.rng, phrasesOf(directions[edge]!).noun), { ...mention, kinds });
    return { x: noun, s: noun };
  }

  #hint({ wish, excluded, guessed, path }: Move): string | undefined {
    const { rng } = this;
    if (guessed) return fill(pick(rng, talk().guesses), { x: this.#short(path.at(-1)![2], 0.3) });
    const sentences: string[] = [];
    if (wish)
      sentences.push(`${fill(pick(rng, talk().wishes[wish.direction]!), { v: this.#short(wish.value, 0.25) })}.`);
    if (excluded !== undefined)
      sentences.push(capital(fill(pick(rng, talk().exclusions), { x: this.#short(excluded, 0.3) })));
    return sentences.length === 0 ? undefined : sentences.join(' ');
  }

  #aside(start: number): void {
    const { rng } = this;
    const other = this.anyOf(pick(rng, asideTypes));
    if (other !== undefined && other !== start)
      this.#say(capital(fill(pick(rng, talk().asides), { x: this.#short(other, 0.2) })));
  }

  #statement({ path }: Move): string {
    return path
      .map(([head, relation, tail]) => {
        const name = this.world.graph.relationNames[relation]!;
        const [h, t] = name.startsWith('~') ? [tail, head] : [head, tail];
        const { tell } = relationWords()[name.replace('~', '') as RelationName];
        return fill(pick(this.rng, tell), { h: this.#short(h, 0.1), t: this.#short(t, 0.1) });
      })
      .join(', and ');
  }

  #mention(entity: number, recent: boolean): Mention {
    if (recent && chance(this.rng, 0.45)) return this.#pronoun(entity);
    const x = this.#short(entity, 0.3);
    return { x, s: x };
  }

  #pronoun(entity: number): Mention {
    const { types, graph } = this.world;
    if (!isPerson(types[entity]!)) return { x: 'it', s: 'it' };
    return graph.entityNames[entity]!.length % 2 === 0 ? { x: 'her', s: 'she' } : { x: 'him', s: 'he' };
  }

  /** Full name, or with this probability a short form. */
  #short(entity: number, probability: number): string {
    const { graph, aliases } = this.world;
    const short = aliases[entity]!;
    return short.length > 0 && chance(this.rng, probability)
      ? pick(this.rng, short)
      : plainName(graph.entityNames[entity]!);
  }

  #walk(move: Move, sender: Sender): void {
    this.#flush();
    const { entityNames, relationNames } = this.world.graph;
    this.paths.push({
      sender,
      position: this.messages.length,
      triples: move.path.map(([head, relation, tail]) => [
        entityNames[head]!,
        relationNames[relation]!,
        entityNames[tail]!,
      ]),
    });
    for (const [, , tail] of move.path) {
      this.visited.add(tail);
      this.topics.push(tail);
    }
    this.#sender = sender;
  }

  #say(text: string): void {
    this.#sentences.push(text);
  }

  #turnTo(sender: Sender): void {
    if (this.#sender === sender) return;
    this.#flush();
    this.#sender = sender;
    const reaction = pick(this.rng, talk().reactions);
    if (reaction !== '') this.#say(reaction);
  }

  #flush(): void {
    if (this.#sentences.length > 0) this.messages.push({ sender: this.#sender, text: this.#sentences.join(' ') });
    this.#sentences = [];
  }
}

/** Capitalised after a full stop. */
const led = (lead: string, question: string): string => lead + (/[.!] $/.test(lead) ? capital(question) : question);
