/**
 * Solved questions for agents that answer from the model's memory alone, by domain: they show the form of an answer, and
 * that there may be several. All of them are common knowledge and none is taken from a data set.
 */
import type { AnswerReply, Example } from '../../src/llm/decision.js';

export const domains = ['films', 'people', 'general', 'courses'] as const;
type Domain = (typeof domains)[number];

type Solved = { question: string; reasoning: string; answers: string[] };

const solved: Record<Domain, readonly Solved[]> = {
  films: [
    {
      question: 'who directed Jaws',
      reasoning: 'Jaws is a film of 1975. Steven Spielberg directed it.',
      answers: ['Steven Spielberg'],
    },
    {
      question: 'which films did the director of Psycho make in 1958',
      reasoning: 'Alfred Hitchcock directed Psycho. In 1958 he made Vertigo.',
      answers: ['Vertigo'],
    },
    {
      question: 'what languages are spoken in Lost in Translation',
      reasoning: 'The film plays in Tokyo among Americans. English and Japanese are spoken.',
      answers: ['English', 'Japanese'],
    },
    {
      question: 'who wrote the films that Akira Kurosawa directed with Toshiro Mifune in 1954',
      reasoning: 'That film is Seven Samurai. Kurosawa, Shinobu Hashimoto and Hideo Oguni wrote it.',
      answers: ['Akira Kurosawa', 'Shinobu Hashimoto', 'Hideo Oguni'],
    },
  ],
  people: [
    {
      question: 'what is the nationality of the wife of Pierre Curie',
      reasoning: 'Pierre Curie was married to Marie Curie. She was Polish and French.',
      answers: ['Poland', 'France'],
    },
    {
      question: 'where was the father of Alexander the Great born',
      reasoning: 'His father was Philip II of Macedon, who was born in Pella.',
      answers: ['Pella'],
    },
    {
      question: 'what was the profession of the mother of Mary Shelley',
      reasoning: 'Her mother was Mary Wollstonecraft, a writer and philosopher.',
      answers: ['writer', 'philosopher'],
    },
  ],
  general: [
    {
      question: 'what rivers flow through Vienna',
      reasoning: 'Vienna lies on the Danube, and the small river Wien joins it there.',
      answers: ['Danube', 'Wien'],
    },
    {
      question: 'in what country is the source of the Rhine',
      reasoning: 'The Rhine rises in the Alps of Graubünden, in Switzerland.',
      answers: ['Switzerland'],
    },
    {
      question: 'who wrote the play Hedda Gabler',
      reasoning: 'Hedda Gabler is a play of 1891 by Henrik Ibsen.',
      answers: ['Henrik Ibsen'],
    },
  ],
  courses: [
    {
      question: 'which field does the concept derivative belong to',
      reasoning: 'A derivative is a notion of calculus, which is mathematics.',
      answers: ['mathematics'],
    },
    {
      question: 'which concept is needed before recursion',
      reasoning: 'A recursive function calls itself, so functions come first.',
      answers: ['function'],
    },
  ],
};

const domainOf: Record<string, Domain> = { metaqa: 'films', pathquestion: 'people', mooc: 'courses' };

/** The exemplars that suit a data set. @param domain `auto` chooses by the data set's name */
export function exemplarsFor(dataset: string, domain: Domain | 'auto', withReasoning: boolean): Example<AnswerReply>[] {
  const chosen = domain === 'auto' ? (domainOf[dataset] ?? 'general') : domain;
  return solved[chosen].map(({ question, reasoning, answers }) => ({
    question,
    reply: withReasoning ? { answers, reasoning } : { answers },
  }));
}

export function truthExemplars(withReasoning: boolean): Example<AnswerReply>[] {
  const statements = [
    {
      question: 'true or false: Oslo is the capital of Norway',
      reasoning: 'Oslo is the capital of Norway.',
      truth: 'true',
    },
    { question: 'true or false: Haydn wrote Don Giovanni', reasoning: 'Mozart wrote Don Giovanni.', truth: 'false' },
  ];
  return statements.map(({ question, reasoning, truth }) => ({
    question,
    reply: withReasoning ? { answers: [truth], reasoning } : { answers: [truth] },
  }));
}
