export { awsEngine } from './aws-engine.ts';
export { awsProvider } from './aws/aws-provider.ts';
export { cloudEngine } from './cloud-engine.ts';
export { CloudFailed, CloudRefused, CloudThrottled, type CloudError, type CloudFault } from './cloud-error.ts';
export type {
  AccessKey,
  AssumedRole,
  CloudProvider,
  CloudSession,
  CloudSettings,
  FederatedSession,
  ListedKey,
  MadeUser,
  NameKind,
  NewUser,
  RoleSession,
  SessionPolicies,
  TaggedUser,
  TemporaryCredential,
  UserMark,
  UserRights,
} from './cloud-provider.ts';
