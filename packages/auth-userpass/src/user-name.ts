import { f } from '@strongroom/engine-sdk';

/** `Bob` and `bob` are one user everywhere: in records, policies, the audit log, identities and the lockout. */
export const usernameField = f.name('Name of the user. Case does not matter.', { folds: (name) => name.toLowerCase() });
