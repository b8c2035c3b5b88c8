import type { QueryResult, QueryResultRow } from 'pg';

export type Query = <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<QueryResult<Row>>;
