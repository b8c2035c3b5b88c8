export { ask, bodyOf, type Asked } from './ask.ts';
export { compareShapes, shapeOf, type RecordedCall, type Shape } from './recorded-call.ts';
export { recordedCalls, type Difference, type RecordedCalls, type WireAnswer } from './recorded-calls.ts';
