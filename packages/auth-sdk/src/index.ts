export { matchesGlob } from './glob.ts';
export { recordName, recordPaths, type RecordPaths, type Written } from './record-paths.ts';
export { renewalRefused, samePolicies } from './renewal.ts';
export { heldBy, roleHolders } from './role-holders.ts';
export {
  defaultRoleTokens,
  mergeRoleTokens,
  policyNames,
  renewedBy,
  requireAddress,
  RoleTokens,
  roleTokenData,
  roleTokenFields,
  termsFor,
  type OldName,
} from './role-tokens.ts';
export { StepTrace, testReport, type StepReport } from '@strongroom/engine-sdk';
