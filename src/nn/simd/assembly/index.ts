// @ts-nocheck AssemblyScript: its compiler checks.
/** Exports of the module of kernels, which `../kernels.ts` types as they are here. */
export { twoDots } from './cosines.ts';
export { compareListed, countNearer } from './rounded-rows.ts';
export { addRowDots, addRowDotsGradient } from './row-dots.ts';
export {
  transePlaceBytes,
  transeRoom,
  transeScratchBytes,
  transeSettings,
  transeTable,
  transeTriples,
} from './transe-state.ts';
export { transeDistances, transeDrawn, transeGradients, transeMoves, transeTrain } from './transe-train.ts';
export { adamStep, sumAll, sumSquares } from './adam.ts';
export {
  addBias,
  addScaled,
  columnSums,
  copyAll,
  copyRows,
  expAll,
  expGrad,
  leakyAll,
  leakyGrad,
  sigmoidAll,
  sigmoidGrad,
  tanhAll,
  tanhGrad,
  zeroAll,
} from './layers.ts';
export { matMul, turnedMatMul } from './matmul.ts';
export {
  messageGraph,
  messageHidden,
  messageWeights,
  messageWeightGrads,
  pullMessages,
  pullGrads,
  pushMessages,
  pushGrads,
  slogAll,
  slogGrad,
} from './messages.ts';
export { addDots, addRows, addScaledRows, reluAll, reluGrad, scatterRows } from './rows.ts';
export { addBlock, addProducts, copyBlock, gruCell, gruCellGrad } from './sequences.ts';
