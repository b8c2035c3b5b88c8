import type { ReactNode } from 'react';
import { To } from '../../parts/to.tsx';

/** The way to a method or an enforcement. */
export function mfaCrumbs(): ReactNode[] {
  return [
    <To key="logins" to="/auth">
      Logins
    </To>,
    <To key="mfa" to="/mfa">
      Second factors
    </To>,
  ];
}
