/** What a walker's network reads: many states with their legal actions side by side, as flat typed arrays. */

/** S states with N legal actions in all. Every array is row-major; ids are the graph's. */
export interface StateBatch {
  numStates: number;
  /** float32 [S, contextDim]: frozen text vectors of the dialogue. */
  context: Float32Array;
  /** int32 [S]: where the walk started. */
  start: Int32Array;
  /** int32 [S]: where it stands. */
  current: Int32Array;
  /** int32 [S]: relation walked last, or `numRelations + 1` (none) before the first step. */
  lastRelation: Int32Array;
  /** int32 [S]: last relation of the dialogue's previous path, or `numRelations + 1` (none). */
  previousPathRelation: Int32Array;
  /** float32 [S, numScalars]: see `stateScalars`. */
  scalars: Float32Array;
  /** int32 [S + 1]: actions of state `s` are `offsets[s] .. offsets[s + 1] - 1`. */
  offsets: Int32Array;
  /** int32 [N]: state of each action. */
  stateOf: Int32Array;
  /** int32 [N]: index of each in the state's whole action list. */
  actions: Int32Array;
  /** int32 [N]: relation of each action; `numRelations` (Equal) for staying. */
  relations: Int32Array;
  /** int32 [N]: entity that each action leads to. */
  tails: Int32Array;
  /** float32 [N, numEdgeFeatures], empty when the head does not read them. */
  edgeFeatures: Float32Array;
}

/** Names of the state's scalars, in order. */
export const stateScalars = [
  'hop',
  'sender is the assistant',
  'has an earlier path',
  'the earlier path had two hops or more',
  'start is the tail of the earlier path',
  'messages so far / 8',
] as const;

/** Widths of a batch's rows. */
export interface BatchShape {
  contextDim: number;
  numEdgeFeatures: number;
}

/** Allocates a batch whose arrays are exact for the given states. */
export function allocateBatch(numStates: number, numActions: number, shape: BatchShape): StateBatch {
  return {
    numStates,
    context: new Float32Array(numStates * shape.contextDim),
    start: new Int32Array(numStates),
    current: new Int32Array(numStates),
    lastRelation: new Int32Array(numStates),
    previousPathRelation: new Int32Array(numStates),
    scalars: new Float32Array(numStates * stateScalars.length),
    offsets: new Int32Array(numStates + 1),
    stateOf: new Int32Array(numActions),
    actions: new Int32Array(numActions),
    relations: new Int32Array(numActions),
    tails: new Int32Array(numActions),
    edgeFeatures: new Float32Array(numActions * shape.numEdgeFeatures),
  };
}
