/**
 * Texts of a language model that walks relations: the plain form of decisions by likelihood, in which a question is a line
 * `question? = directed by, then written by` behind solved lines. The body of a state ends with the relations walked; what may follow is
 * `, then` with a relation's words, or the line's end for STOP. So a walk's probability is that of its line among all legal lines.
 */
import { maskedQuestion } from '../../../datasets/question.js';
import { plainBody, plainHead, plainRelation, then } from '../../../src/llm/decisions/likelihood/plain-text.js';
import type { Vocabulary } from '../../../src/llm/llama/vocabulary.js';
import type { RelationRequest } from '../network.js';
import { type Choices, choicesOf } from './choices.js';

/** Solved lines before the question. */
const exampleLines = plainHead('relation');
/** Text that the tokens of another one follow. */
const before = 'a';

/** Texts of states and actions as tokens. */
export class WalkPrompts {
  /** Tokens that all states share: the start token, and the solved lines. */
  readonly head: Int32Array;
  readonly #bodies = new Map<string, Int32Array>();
  readonly #choices = new Map<string, Choices>();
  readonly #first: readonly (readonly number[])[];
  readonly #later: readonly (readonly number[])[];
  /** Token that follows the words of a relation. */
  readonly #end: number;

  /** @param relations names, direction-qualified */
  constructor(
    readonly vocabulary: Vocabulary,
    readonly relations: readonly string[],
    readonly examples: boolean,
  ) {
    const following = (text: string) => vocabulary.following(before, text);
    const words = relations.map((name) => ` ${plainRelation(name)}`);
    const stop = following('\n');
    this.head = Int32Array.from(vocabulary.beginning(examples ? exampleLines : ''));
    this.#first = [...words.map(following), stop];
    this.#later = [...words.map((text) => following(then + text)), stop];
    this.#end = following(then)[0]!;
  }

  /** Text that stands for a state, without what may follow. */
  bodyOf({ task, relations }: Pick<RelationRequest, 'task' | 'relations'>): string {
    const question = maskedQuestion(task).replaceAll('[E]', 'it');
    const line = ['it', ...Array.from(relations, (relation) => this.relations[relation]!)].join(' → ');
    const { body } = plainBody('relation', { question, context: [{ label: 'Path', lines: [line] }] });
    const walked = relations.length > 0 ? body.slice(0, -then.length) : body;
    return this.examples ? walked : walked.trimStart();
  }

  /** int32: tokens of a body, behind those of the head. At least one. */
  tokensOf(body: string): Int32Array {
    const known = this.#bodies.get(body);
    if (known) return known;
    const tokens = Int32Array.from(this.vocabulary.continued(body));
    this.#bodies.set(body, tokens);
    return tokens;
  }

  /** Choices of a state, by its mask. */
  choicesOf({ relations: { length }, mask }: Pick<RelationRequest, 'relations' | 'mask'>): Choices {
    const legal = Array.from(mask.keys()).filter((action) => mask[action] === 1);
    const key = `${length === 0} ${legal.join()}`;
    let choices = this.#choices.get(key);
    if (!choices) {
      const texts = length === 0 ? this.#first : this.#later;
      this.#choices.set(key, (choices = choicesOf(legal, (action) => texts[action]!, this.#end)));
    }
    return choices;
  }
}
