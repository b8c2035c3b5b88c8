import type { TObject } from 'typebox';
import type { SyncContractCase } from './cases.ts';
import type { Fixture } from './fixture.ts';

export type CaseBody<C extends TObject, A extends TObject> = (fixture: Fixture<C, A>) => Promise<void>;

export type Cases<C extends TObject, A extends TObject> = Partial<Record<SyncContractCase, CaseBody<C, A>>>;
