/** Readers by kind: a line each. */
import { nsmChains, transferNetChains } from './chains/attention.js';
import { independent } from './chains/independent.js';
import { uniKgqa } from './chains/uni-kgqa.js';
import { walkerChains } from './chains/walker.js';
import { embedKgqa } from './embed-kgqa/embed-kgqa.js';
import { kvMem } from './entities/kv-mem.js';
import { nsm } from './entities/nsm.js';
import type { ReaderKind } from './reader.js';
import type { ReaderKindName } from './settings.js';

const kinds: Readonly<Record<ReaderKindName, ReaderKind>> = {
  'nsm-chains': nsmChains,
  'transfernet-chains': transferNetChains,
  independent,
  'walker-chains': walkerChains,
  'uni-kgqa': uniKgqa,
  'embed-kgqa': embedKgqa,
  nsm,
  'kv-mem': kvMem,
};

/** A kind of reader by the name that settings have for it. */
export const readerKind = (name: ReaderKindName): ReaderKind => kinds[name];
