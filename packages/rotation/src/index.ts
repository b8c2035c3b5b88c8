export { claimAccount, managedAlready, otherManager, takenOver } from './account-claim.ts';
export type { AccountClaims, CalledAccount, Claiming } from './account-claim.ts';
export { inTrouble } from './in-trouble.ts';
export type { RotationStatuses } from './in-trouble.ts';
export type { Login } from './login.ts';
export { OneAtATime } from './one-at-a-time.ts';
export type { Outcome, Proof } from './outcome.ts';
export { doubtAbout, retriedAfter, secondsToRotation } from './rotation-answer.ts';
export { RotationMachine } from './rotation-machine.ts';
export type {
  Asked,
  Beginning,
  Claim,
  Creation,
  Lens,
  Method,
  Pending,
  Reported,
  StoredRotation,
  Tried,
  Work,
} from './rotation-machine.ts';
export { moves, stageOf, stages, verdictOn, verdicts } from './rotation-table.ts';
export type { Attempt, Effect, Kind, Move, Stage, Try, Verdict } from './rotation-table.ts';
export { Rotation } from './rotation.ts';
export type { Change, CurrentCredential, Ending, Grace, RotationOptions, Storing } from './rotation.ts';
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
export { rootPlanOf, rootPlanParameters, rotatesByItself } from './root-plan.ts';
export { ownFields, ownState, present, rotationStateFields } from './rotation-state.ts';
export { holderIn, requireSettledRotation, requireSudoForPasswords, type HeldPasswords, type OpenRotation } from './stored-credentials.ts';
export type { PendingChange, RetiringCredential, RotationState, StateLens } from './rotation-state.ts';
export { creationOpen } from './creation-open.ts';
export { importedPassword, refuseImport, requireProven } from './imported-password.ts';
export type { ImportedFor, ImportedPassword, SentImport } from './imported-password.ts';
export { failingPath } from './path-failing.ts';
export type { FailingPath } from './path-failing.ts';
export { staticCredsPaths } from './path-static-creds.ts';
export type { StaticCredential, StaticCredsPaths } from './path-static-creds.ts';
export { staticRoleRead } from './static-role-read.ts';
export type { StaticRoleRead } from './static-role-read.ts';
export { lastRotation } from './rotation-time.ts';
export { warned } from './warned.ts';
export { RotationStatus, rotationStatus } from './rotation-status.ts';
export { followed } from './followed-job.ts';
export { Neighbours } from './neighbours.ts';
