// Writing Spokeshave policies in AssemblyScript. A policy is one function for
// each hook it answers, registered at the top level; README.md has the rest.
//
//   import { onRank, Pool, Rows, Verdicts } from "./spokeshave";
//   export * from "./spokeshave/exports";
//
//   onRank((pool: Pool, rows: Rows, out: Verdicts): void => {
//     for (let i = 0; i < rows.length; i++) {
//       if (rows.family(i).is("m7i")) out.score(i, 3 * rows.at(i).cost);
//     }
//   });
//
// A row that is not touched keeps the host's preset: the cost so far (rank),
// deny (consolidate), no cap and allowed (ceiling). Rows and texts are views
// into the batch: they are valid until the function returns.
export * from "./abi";
export { Text, fixed } from "./text";
export { Call, Labels, log } from "./session";
export { Config, onConfigure } from "./config";
export { Pool, Rows, Verdicts, onRank } from "./rank";
export { Candidates, Permissions, onConsolidate } from "./consolidate";
export { Caps, Launches, Scopes, onCeiling } from "./ceiling";
