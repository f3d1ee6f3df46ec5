/** Readers by kind: a line each. */
import type { ReaderKind } from './reader.js';
import type { ReaderKindName } from './settings.js';

/** All kinds; each is loaded when it is first asked for. */
const kinds: Record<ReaderKindName, () => Promise<ReaderKind>> = {
  'nsm-chains': async () => (await import('./chains/attention.js')).nsmChains,
  'transfernet-chains': async () => (await import('./chains/attention.js')).transferNetChains,
  independent: async () => (await import('./chains/independent.js')).independent,
  'walker-chains': async () => (await import('./chains/walker.js')).walkerChains,
  'uni-kgqa': async () => (await import('./chains/uni-kgqa.js')).uniKgqa,
  'embed-kgqa': async () => (await import('./embed-kgqa/embed-kgqa.js')).embedKgqa,
  nsm: async () => (await import('./entities/nsm.js')).nsm,
  'kv-mem': async () => (await import('./entities/kv-mem.js')).kvMem,
};

/** A kind of reader by the name that settings have for it. */
export const readerKind = (name: ReaderKindName): Promise<ReaderKind> => kinds[name]();
