import type { TObject } from 'typebox';
import type { ContractCase } from './cases.ts';
import type { Fixture } from './fixture.ts';

export type CaseBody<C extends TObject> = (fixture: Fixture<C>) => Promise<void>;

export type Cases<C extends TObject> = Partial<Record<ContractCase, CaseBody<C>>>;
