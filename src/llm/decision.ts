/** Decisions of prompted agents: a closed set of types, for which prompt, grammar and parser are one implementation. */

/** A fact as names, in the direction in which the graph holds it: never turned round. */
export type NamedTriple = readonly [head: string, relation: string, tail: string];

/** Candidate of a choice. `text` appears in the prompt; ids are for executing the choice. */
export type Candidate =
  | {
      kind: 'relation';
      relation: number;
      /** Inverse relation, for a candidate of both directions. */ inverse?: number;
      text: string;
    }
  | { kind: 'entity'; entity: number; /** The relation that led to it. */ relation?: number; text: string }
  | { kind: 'chain'; relations: readonly number[]; /** End entities. */ answers: readonly number[]; text: string }
  | { kind: 'path'; triples: readonly (readonly [number, number, number])[]; text: string }
  | { kind: 'text'; text: string };

/** A solved instance of the same decision, made from a fixture; its reply must parse with the production parser. */
export interface Example<Reply> {
  question: string;
  evidence?: readonly NamedTriple[];
  context?: readonly ContextBlock[];
  /** Texts of its candidates, allowed answers or paths (`Skarn → ~born_on → Tamsin Orrel`), where the decision has such. */
  candidates?: readonly string[];
  targets?: readonly string[];
  reply: Reply;
}

/** A labelled part of a prompt that is neither question, evidence nor candidates. */
export interface ContextBlock {
  label: string;
  lines: readonly string[];
  /** `history` and `notes`, a model’s own words, are dropped first by a tight token budget, oldest line first. Default `step`: never. */
  role?: 'step' | 'history' | 'notes';
}

interface DecisionBase<Reply> {
  /** Step of the agent's algorithm, such as `relation-map`; calls are counted by it. */
  phase: string;
  questionId: string;
  question: string;
  /** Instruction, the same for every question: prompts start with it, so its tokens are cached. */
  task: string;
  examples: readonly Example<Reply>[];
  /** Facts in the prompt, all that the decision may rest on. */
  evidence: readonly NamedTriple[];
  /** In a written prompt facts of one head and relation stand in one line, and so do those of one relation and tail. Default false. */
  joinFacts?: boolean;
  context?: readonly ContextBlock[];
  /** Entities that the candidates hang on, such as the heads whose relations are offered. Ids. */
  subjects?: readonly number[];
  /** The call is the question's last: it may use the call that the budget keeps in reserve. Default false. */
  final?: boolean;
}

/** Key phrases of the question. */
export interface ExtractDecision extends DecisionBase<ExtractReply> {
  kind: 'extract';
  maxItems: number;
}

/** Key phrases, in the model's order. */
export type ExtractReply = { items: string[] };

/** One of the candidates, or none of them where `allowNone`. */
export interface ChooseOneDecision extends DecisionBase<ChooseOneReply> {
  kind: 'choose-one';
  candidates: readonly Candidate[];
  allowNone: boolean;
}

/** Index into `candidates`; -1 for none. */
export type ChooseOneReply = { choice: number };

/** Some of the candidates, best first, without repeats. */
export interface ChooseManyDecision extends DecisionBase<ChooseManyReply> {
  kind: 'choose-many';
  candidates: readonly Candidate[];
  /** Most that may be chosen; none may always be. */
  maxChoices: number;
}

/** Indices into `candidates`, best first, without repeats. */
export type ChooseManyReply = { choices: number[] };

/** A whole score from 0 to 10 for every candidate. */
export interface ScoreDecision extends DecisionBase<ScoreReply> {
  kind: 'score';
  candidates: readonly Candidate[];
}

/** One score a candidate, in order, whole, 0 to 10. */
export type ScoreReply = { scores: number[] };

/** Which candidates speak for which targets: scored pairs, all others count 0. */
export interface MatchDecision extends DecisionBase<MatchReply> {
  kind: 'match';
  candidates: readonly Candidate[];
  /** Such as the clues that nothing covers yet. */
  targets: readonly string[];
}

/** Pairs that belong together: indices into `candidates` and `targets`, score 0 to 10, whole where it is written; at most one entry a pair. */
export type MatchReply = { matches: { candidate: number; target: number; score: number }[] };

/** Relation sequences that lead from the subjects to the answer. */
export interface ChainsDecision extends DecisionBase<ChainsReply> {
  kind: 'chains';
  hops: number;
  count: number;
  /** Every chain that may be written, as relation ids in ascending order: those that exist from the subjects. */
  allowed: readonly (readonly number[])[];
  /** Name of each relation id that occurs in `allowed` or in an example; inverse relations are `~name`. */
  relationName: (relation: number) => string;
}

/** Relation ids of each chain, most reasonable chain first; each one of `allowed`, without repeats. */
export type ChainsReply = { chains: number[][] };

/** The question in other words, in parts or as goals; or what is known so far, in words. */
export interface RewriteDecision extends DecisionBase<RewriteReply> {
  kind: 'rewrite';
  /** Kind of text: the question in other words, its parts, its sub-goals, the known facts, or `relation → relation`. */
  about: 'paraphrase' | 'sub-question' | 'sub-objective' | 'memory' | 'plan';
  count: number;
}

/** One text at least, each of at most 120 characters, all different; in their order where they are parts. */
export type RewriteReply = { texts: string[] };

/** Paths of the graph that lead from the topics to an answer. */
export interface PathsDecision extends DecisionBase<PathsReply> {
  kind: 'paths';
  count: number;
  /** Every path that may be written: triples of ids as walked, each beginning where the one before ends. */
  allowed: readonly (readonly (readonly [number, number, number])[])[];
  entityName: (entity: number) => string;
  /** Name of each relation id that occurs in `allowed`; inverse relations are `~name`. */
  relationName: (relation: number) => string;
}

/** Indices into `allowed`, best first, without repeats. */
export type PathsReply = { paths: number[] };

/** Verdict on whether the findings suffice, or which of several does; with a reason. */
export interface JudgeDecision extends DecisionBase<JudgeReply> {
  kind: 'judge';
  /** Findings to choose among; empty: the evidence as a whole is judged. */
  candidates: readonly Candidate[];
  /** Ask for the answers in the same reply where the verdict is good (Think-on-Graph). */
  withAnswers: boolean;
}

/** A verdict with its reason. */
export interface JudgeReply {
  /** With candidates the chosen index, without them 0 for "suffices"; -1 for none. */
  choice: number;
  reason: string;
  /** Empty unless `withAnswers`. */
  answers: string[];
}

/** The answer to the question. */
export interface AnswerDecision extends DecisionBase<AnswerReply> {
  kind: 'answer';
  /** A question for entities, or a statement to judge. */
  form: 'entities' | 'truth';
  /** Ask for the reasoning before the answer (chain of thought). */
  withReasoning: boolean;
  /** Texts that the answers must be taken from, numbered in the prompt; absent: any text. Such as triples to choose from. */
  allowed?: readonly string[];
}

/** Answers to a question, or to a statement. */
export interface AnswerReply {
  /** Names, best first; empty where the model abstains. For `truth`: `true` or `false` alone, or nothing. */
  answers: string[];
  reasoning?: string;
}

/** Anything that a model may be asked. */
export type Decision =
  | ExtractDecision
  | ChooseOneDecision
  | ChooseManyDecision
  | ScoreDecision
  | MatchDecision
  | ChainsDecision
  | RewriteDecision
  | PathsDecision
  | JudgeDecision
  | AnswerDecision;

/** Which of them. */
export type DecisionKind = Decision['kind'];

/** The reply that belongs to a decision. */
export type ReplyOf<D extends Decision> = D extends { examples: readonly Example<infer Reply>[] } ? Reply : never;

/** Parse stages, from best to worst; see the parsing ladder. */
export type ParseStage = 'constrained' | 'direct' | 'extracted' | 'repaired' | 'asked-again' | 'unparsed';

/** A decision that was taken. */
export interface Decided<D extends Decision> {
  /** Absent where the model's replies could not be read, the second included: the agent has its own fallback. */
  reply?: ReplyOf<D>;
  stage: ParseStage;
  /** Last reply; for a decision by likelihood the text of the choice. */
  text: string;
  /** By likelihood, in (0, 1]: the softmax share of the choice among all that was scored. */
  confidence?: number;
}

/** The call would have gone beyond the budget, which keeps one call for the final answer. Agents catch it and answer. */
export class BudgetSpent extends Error {
  constructor(readonly calls: number) {
    super(`the budget of ${calls} calls is spent`);
    this.name = 'BudgetSpent';
  }
}

/** One question's view of the client. */
export interface DecisionClient {
  /**
   * Takes a decision. Candidates cut by the token budget are never chosen.
   * @throws BudgetSpent where only the reserved call is left and the decision is not `final`, or none at all;
   *   WorkbenchError `data` where question and candidates do not fit the context; errors of the model
   */
  decide<D extends Decision>(decision: D): Promise<Decided<D>>;
  /** Calls left before the reserved one; Infinity without a budget. */
  readonly remaining: number;
  /**
   * Choices are taken by likelihood (`--choices likelihood`): the path walked belongs into every choice (a context
   * block `Path`), and answers come from the graph. Free text and verdicts `withAnswers` are written all the same.
   */
  readonly byLikelihood: boolean;
}
