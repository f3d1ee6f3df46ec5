/** Questions in words: chains of relations as nested noun phrases, by the patterns of `phrases.yaml`. */
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { inversePrefix } from '../../src/kg/graph.js';
import { readTextFile } from '../../src/run/files.js';
import { packageRoot } from '../../src/run/locations.js';
import { pick, pickWeighted, type Rng } from '../../src/run/seeds.js';
import { type VerbForms, participleOf, plural, verbForms } from './english.js';
import type { RelationWords, WordSource, Words } from './relation-words.js';
import type { Vocabulary } from './vocabulary.js';

const weighted = z.record(z.string(), z.number().positive());
const patternSchema = z.strictObject({
  nouns: z.record(z.enum(['name', 'owner', 'acts', 'made', 'acted', 'done']), weighted),
  questions: z.record(z.enum(['name', 'owner', 'acts', 'made', 'acted', 'be', 'done']), weighted),
  same: z.strictObject({ name: weighted, acts: weighted }),
  together: z.strictObject({ name: weighted, acts: weighted }),
  carriers: z.array(z.string()),
  persons: z.array(z.string()),
  words: z.record(z.string(), weighted),
  styles: z.array(weighted),
});
type Patterns = z.output<typeof patternSchema>;
type Weighted = Readonly<Record<string, number>>;

let read: Patterns | undefined;
const patterns = (): Patterns =>
  (read ??= patternSchema.parse(
    parse(readTextFile(join(packageRoot(), 'datasets', 'generated', 'phrases.yaml'), 'patterns of questions')),
  ));

/** Weight of all words of a source together; those of a name count each by itself. */
const sourceWeights: Readonly<Record<WordSource, number>> = {
  name: 3,
  owner: 4,
  vocabulary: 2.5,
  paraphrase: 2.5,
  model: 5,
};

/** Words for a relation in one direction, from the topic S towards what is asked for. */
interface Said {
  /** Nouns: what is asked for is the … of S. */
  names: Weighted;
  /** S is the … of what is asked for. */
  owners: Weighted;
  /** Verbs: what is asked for …s S. */
  acts: VerbForms[];
  /** S …s what is asked for. */
  acted: VerbForms[];
  /** Kinds of what is asked for, and of S. */
  kinds: Weighted;
  own: Weighted;
  isPerson: boolean;
  asks: string;
}

/** Shares of questions: in one style throughout, as a carrier and a noun phrase, with a word for what is shared, with the kind of the
 * topic before it, with words left out, ended by a question mark. */
const shares = { style: 0.35, carried: 0.4, shared: 0.5, kind: 0.15, dropped: 0.05, mark: 0.5 };

const littleWords = new Set(
  'the a of that which who what is are was were in on for with by as to do does did have has had'.split(' '),
);

/** Words chains of relations as questions. Equal random numbers give equal texts. */
export class Phraser {
  readonly #said = new Map<string, Said>();
  readonly #common: readonly string[];

  /** @param all words by relation, inverses left out: chains with other relations cannot be worded */
  constructor(all: ReadonlyMap<string, RelationWords>, vocabulary: Vocabulary) {
    this.#common = vocabulary.commonNouns.slice(0, 500);
    for (const [name, words] of all) {
      const { tailIs, headIs, tailDoes, headDoes, head, tail } = words;
      const verbs = (some: Words) => Object.keys(some).map(verbForms);
      const isPerson = (kinds: Words) => Object.keys(kinds).some((noun) => vocabulary.classOf(noun) === 'person');
      const asks = (nouns: Words, kinds: Words) => {
        const classes = Object.keys({ ...nouns, ...kinds }).map((noun) => vocabulary.classOf(noun.split(' ').at(-1)!));
        return classes.includes('time') ? 'when' : classes.includes('place') ? 'where' : 'what';
      };
      const towardsTail = {
        names: weightsOf(tailIs),
        owners: weightsOf(headIs),
        acts: verbs(tailDoes),
        acted: verbs(headDoes),
      };
      const towardsHead = {
        names: weightsOf(headIs),
        owners: weightsOf(tailIs),
        acts: verbs(headDoes),
        acted: verbs(tailDoes),
      };
      const [ofTail, ofHead] = [
        weightsOf({ ...tail, ...nounsAsKinds(tailIs) }),
        weightsOf({ ...head, ...nounsAsKinds(headIs) }),
      ];
      this.#said.set(name, {
        ...{ ...towardsTail, kinds: ofTail, own: ofHead },
        ...{ isPerson: isPerson({ ...tail, ...tailIs }), asks: asks(tailIs, tail) },
      });
      this.#said.set(`${inversePrefix}${name}`, {
        ...{ ...towardsHead, kinds: ofHead, own: ofTail },
        ...{ isPerson: isPerson(head), asks: asks(headIs, head) },
      });
    }
  }

  /** True if the relations have words. */
  knows(chain: readonly string[]): boolean {
    return chain.every((relation) => {
      const said = this.#said.get(relation);
      return said && (size(said.names) > 0 || size(said.owners) > 0 || said.acts.length > 0 || said.acted.length > 0);
    });
  }

  /**
   * Question for a chain.
   * @param chain relations from the topic, direction-qualified; see `knows`
   * @param topic as it is to stand in the text, such as `[Skarn]`
   */
  question(chain: readonly string[], topic: string, rng: Rng): string {
    const { styles, same, together } = patterns();
    const style = rng.uniform() < shares.style ? pick(rng, styles) : undefined;
    let phrase = topic;
    if (rng.uniform() < shares.kind) {
      const { own } = this.#said.get(chain[0]!)!;
      if (size(own) > 0) phrase = `${pick(rng, ['the ', ''])}${choose(own, rng)} ${topic}`;
    }
    for (let i = 0; i < chain.length; i++) {
      const said = this.#said.get(chain[i]!)!;
      const next = chain[i + 1];
      // There and back along a relation is what shares it.
      const shared = next !== undefined && next === reversed(chain[i]!) && rng.uniform() < shares.shared;
      const forth = this.#said.get(next ?? '');
      if (shared && size(said.names) > 0) {
        phrase = this.#fill(
          choose(bothOf(same, said.acts.length > 0), rng),
          { ...said, kinds: forth!.kinds },
          phrase,
          rng,
        );
        i++;
      } else if (shared && size(forth!.names) > 0) {
        phrase = this.#fill(
          choose(bothOf(together, forth!.acts.length > 0), rng),
          { ...forth!, kinds: said.kinds },
          phrase,
          rng,
        );
        i++;
      } else if (i < chain.length - 1 || rng.uniform() < shares.carried || (style && size(said.names) > 0)) {
        const pattern =
          style && size(said.names) > 0 ? choose(style, rng) : choose(this.#patternsOf('nouns', said), rng);
        phrase = this.#fill(pattern, said, phrase, rng);
      } else return this.#ended(this.#fill(choose(this.#patternsOf('questions', said), rng), said, phrase, rng), rng);
    }
    return this.#ended(`${this.#carrier(this.#said.get(chain.at(-1)!)!, rng)} ${phrase}`, rng);
  }

  #carrier({ isPerson }: Said, rng: Rng): string {
    const { carriers, persons } = patterns();
    return pick(rng, isPerson && rng.uniform() < 0.5 ? persons : carriers);
  }

  #patternsOf(form: 'nouns' | 'questions', { names, owners, acts, acted }: Said): Weighted {
    const { [form]: of } = patterns();
    const groups: [boolean, Weighted | undefined][] = [
      [size(names) > 0, of.name],
      [size(owners) > 0, of.owner],
      [acts.length > 0, of.acts],
      [acts.some(({ participle }) => participle), of.made],
      [acted.some((verb) => form === 'nouns' || !isPassive(verb)), of.acted],
      [form === 'questions' && acted.some(isPassive), (of as Patterns['questions']).be],
      [acted.some(({ participle }) => participle), of.done],
    ];
    return Object.assign({}, ...groups.map(([has, some]) => (has ? some : {}))) as Weighted;
  }

  #fill(pattern: string, said: Said, topic: string, rng: Rng): string {
    const { words } = patterns();
    const kindOf = (kinds: Weighted) => {
      const [known, drawn] = [size(kinds) > 0, rng.uniform()];
      const noun =
        known && drawn < 0.75
          ? choose(kinds, rng)
          : drawn < 0.85
            ? pick(rng, ['thing', 'one', 'item'])
            : pick(rng, this.#common);
      return rng.uniform() < 0.6 ? plural(noun) : noun;
    };
    const either = (noun: string) => (rng.uniform() < 0.45 ? plural(noun) : noun);
    const tensed = ({ base, present, past }: VerbForms) => choose({ [past]: 3, [present]: 2, [base]: 0.5 }, rng);
    const verb = (some: readonly VerbForms[]) => pick(rng, some);
    const withObject = (some: readonly VerbForms[]) =>
      pick(
        rng,
        some.flatMap(({ participle }) => participle ?? []),
      );
    const fillers: Readonly<Record<string, () => string>> = {
      name: () => choose(said.names, rng),
      names: () => either(choose(said.names, rng)),
      owner: () => choose(said.owners, rng),
      kind: () => kindOf(said.kinds),
      own: () => kindOf(said.own),
      acts: () => tensed(verb(said.acts)),
      doing: () => verb(said.acts).gerund,
      acted: () => tensed(verb(said.acted)),
      act: () => pick(rng, active(said.acted)).base,
      turned: () => participleOf(pick(rng, active(said.acted)).base),
      rest: () => pick(rng, said.acted.filter(isPassive)).base.slice(3),
      done: () => withObject(said.acted),
      made: () =>
        said.acts.some(({ participle }) => participle) ? withObject(said.acts) : participleOf(verb(said.acts).base),
      who: () => (said.isPerson ? 'who' : pick(rng, ['what', 'which', 'who'])),
      where: () => (rng.uniform() < 0.6 ? said.asks : 'where'),
    };
    const text = pattern.replace(/<(\w+)>/g, (_, name: string) => fillers[name]?.() ?? choose(words[name]!, rng));
    return text
      .replace('[S]', () => topic)
      .replace(/ +/g, ' ')
      .trim();
  }

  /** Some little words left out, as people do; at times with a question mark. */
  #ended(question: string, rng: Rng): string {
    let inName = false;
    const kept = question
      .trim()
      .split(/ +/)
      .filter((word) => {
        const isName = inName || word.includes('[');
        if (isName) inName = !word.includes(']');
        return isName || !littleWords.has(word) || rng.uniform() >= shares.dropped;
      });
    return `${kept.join(' ')}${rng.uniform() < shares.mark ? ' ?' : ''}`;
  }
}

const reversed = (relation: string): string =>
  relation.startsWith(inversePrefix) ? relation.slice(1) : `${inversePrefix}${relation}`;

const bothOf = ({ name, acts }: { name: Weighted; acts: Weighted }, does: boolean): Weighted =>
  does ? { ...name, ...acts } : name;

const isPassive = ({ base }: VerbForms): boolean => base.startsWith('be ');

const active = (verbs: readonly VerbForms[]) => verbs.filter((one) => !isPassive(one));

/** Nouns of one word name the kind of thing, too. */
const nounsAsKinds = (nouns: Words): Words =>
  Object.fromEntries(Object.entries(nouns).filter(([noun, source]) => source === 'name' && !noun.includes(' ')));

function weightsOf(words: Words): Weighted {
  const entries = Object.entries(words);
  return Object.fromEntries(
    entries.map(([word, source]) => {
      const alike = entries.filter(([, other]) => other === source).length;
      return [word, source === 'name' ? sourceWeights.name : sourceWeights[source] / alike];
    }),
  );
}

const size = (some: Weighted): number => Object.keys(some).length;

const choose = (all: Weighted, rng: Rng): string => pickWeighted(rng, Object.keys(all), (one) => all[one]!);
