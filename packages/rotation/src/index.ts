export { claimAccount, managedAlready, otherManager, takenOver } from './account-claim.ts';
export type { AccountClaims, Claiming } from './account-claim.ts';
export { inTrouble } from './in-trouble.ts';
export type { RotationStatuses } from './in-trouble.ts';
export type { Login } from './login.ts';
export { OneAtATime } from './one-at-a-time.ts';
export type { Outcome, Proof } from './outcome.ts';
export { doubtAbout, retriedAfter, secondsToRotation } from './rotation-answer.ts';
export { Rotation } from './rotation.ts';
export type { Change, CurrentCredential, RotationOptions, Storing } from './rotation.ts';
export {
  manualPlan,
  nextRotation,
  planOf,
  rotationPlanFields,
  rotationPlanParameters,
  samePlan,
  visiblePlan,
  visiblePlanFields,
  windowHasPassed,
} from './rotation-plan.ts';
export type { PlanRules, RotationPlan, SentPlan } from './rotation-plan.ts';
export { ownState, rotationStateFields } from './rotation-state.ts';
export type { PendingChange, RotationState, StateLens } from './rotation-state.ts';
export { warned } from './warned.ts';
export { RotationStatus, rotationStatus } from './rotation-status.ts';
