/** Exports of the module of kernels; `../kernels.ts` states the same for TypeScript. */
export { twoDots } from './cosines';
export { denseLayer } from './dense';
export { compareListed, countNearer } from './rounded-rows';
export { addRowDots, addRowDotsGradient } from './row-dots';
export {
  transePlaceBytes,
  transeRoom,
  transeScratchBytes,
  transeSettings,
  transeTable,
  transeTriples,
} from './transe-state';
export { transeDistances, transeDrawn, transeGradients, transeMoves, transeTrain } from './transe-train';
export { adamStep, sumAll, sumSquares } from './adam';
export { addBias, columnSums, copyRows, tanhAll, tanhGrad } from './layers';
export { matMul } from './matmul';
export {
  messageGraph,
  messageHidden,
  messageWeights,
  messageWeightGrads,
  pullMessages,
  pullGrads,
  pushMessages,
  pushGrads,
  slogRows,
  slogGradRows,
  zeroRows,
} from './messages';
export { addDots, addRows, addScaledRows, reluAll, reluGrad, scatterRows, transpose } from './rows';
export { addBlock, addProducts, attend, attendGrad, copyBlock, gruGrad, gruStep } from './sequences';
