import { Type, type Static } from 'typebox';
import { QuotaScope } from './quota-scope.ts';

/** A cap on leases as stored. */
export const LeaseCap = Type.Object({
  scope: QuotaScope,
  /** Leases of secrets, and service tokens of logins, that may live at a time. */
  max_leases: Type.Number(),
});
export type LeaseCap = Static<typeof LeaseCap>;
