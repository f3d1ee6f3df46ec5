/** What the module of kernels exports; `../kernels.ts` states the same for TypeScript. */
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
export { addBias, columnSums, copyRows, tanhAll, tanhSlope } from './layers';
export { matMul } from './matmul';
export {
  messageGraph,
  messageHidden,
  messageWeights,
  messageWeightSlopes,
  pullMessages,
  pullSlopes,
  pushMessages,
  pushSlopes,
  slogRows,
  slogSlopeRows,
  zeroRows,
} from './messages';
export { addDots, addRows, addScaledRows, mulAll, reluAll, reluSlope, scatterRows, transpose } from './rows';
export { addBlock, addProducts, attend, attendSlope, copyBlock, gruSlope, gruStep } from './sequences';
