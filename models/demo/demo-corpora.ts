/** The demo's texts as tokens: a vocabulary learned from them, documents to train on, documents to watch. */
import { WorkbenchError } from '../../src/run/errors.js';
import { type BytePairTokenizer, bytePairTokenizer } from '../llama/byte-pair/byte-pair-tokenizer.js';
import { trainBytePairs } from '../llama/byte-pair/train-byte-pairs.js';
import type { BytePairVocabulary } from '../llama/byte-pair/vocabulary.js';
import { type TokenCorpus, tokenCorpus } from '../llama/token-corpus.js';
import { corpusDocuments, type CorpusOptions } from './corpus.js';
import { loadCorpusWorld } from './corpus/world.js';
import type { DemoModelSettings } from './settings.js';

/** A vocabulary, and what is trained and watched in its tokens. */
export interface DemoCorpora {
  vocabulary: BytePairVocabulary;
  fit: TokenCorpus;
  watched: TokenCorpus;
}

/**
 * Equal settings over equal data give equal corpora. Takes about a minute.
 * @param onStage called with the current stage
 * @throws WorkbenchError `config` where the texts give fewer tokens than `vocabSize`, or it has no room for the first ones
 */
export async function demoCorpora(
  { seed, model, corpus }: DemoModelSettings,
  onStage: (stage: string) => void,
  signal?: AbortSignal,
): Promise<DemoCorpora> {
  const { dialogues, questions, moreQuestions: more } = corpus;
  const world = await loadCorpusWorld({ dialogues, questions, more });
  const documents = (split: CorpusOptions['split'], characters: number, tokenizer?: BytePairTokenizer) =>
    corpusDocuments({
      ...{ world, seed, split, characters, signal, contextLength: model.contextLength },
      ...(tokenizer && { countTokens: (text: string) => tokenizer.encode(text).length }),
    });
  onStage('learning a vocabulary');
  const texts: string[] = [];
  for await (const { segments } of documents('fit', corpus.vocabularyCharacters)) {
    for (const segment of segments) if ('text' in segment) texts.push(segment.text);
  }
  const vocabulary = trainBytePairs(texts, { vocabularySize: model.vocabSize });
  requireSize(vocabulary, model.vocabSize);
  const tokenizer = bytePairTokenizer(vocabulary);
  onStage('writing the corpus');
  const fit = await tokenCorpus(documents('fit', corpus.characters, tokenizer), tokenizer, model.contextLength);
  const watched = await tokenCorpus(
    documents('watch', corpus.watchCharacters, tokenizer),
    tokenizer,
    model.contextLength,
  );
  return { vocabulary, fit, watched };
}

/** Before an hour of training: the file of a model has a row for every token of its vocabulary. */
function requireSize({ tokens }: BytePairVocabulary, vocabSize: number): void {
  if (tokens.length === vocabSize) return;
  throw new WorkbenchError(
    'config',
    `expected a vocabulary of ${vocabSize} tokens, got ${tokens.length}, at model.vocabSize`,
    {
      hint:
        tokens.length < vocabSize
          ? 'Lower it, or learn it from more text by corpus.vocabularyCharacters.'
          : `Raise it to at least ${tokens.length}.`,
    },
  );
}
