// /openapi.json for people: every path, what it takes, what it gives.

import { get } from "./api.js";
import { fill, h, problem } from "./dom.js";

const main = document.getElementById("main");
try {
  const told = await get("/openapi.json");
  const type = (schema = {}) => schema.$ref?.split("/").pop() ?? schema.type ?? schema.anyOf?.map(type).join(" or ") ?? "";
  const fields = (schema) => Object.entries(schema?.properties ?? {}).map(([name, each]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, name)), h("td", {}, type(each)), h("td", {}, each.description ?? "")));
  const named = (schema) => (schema?.$ref ? told.components.schemas[schema.$ref.split("/").pop()] : schema);
  const table = (rows) => rows.length > 0 && h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What it takes" }, h("table", {}, h("thead", {}, h("tr", {}, ["Name", "Type", "What"].map((each) => h("th", { scope: "col" }, each)))), h("tbody", {}, rows)));
  const operations = Object.entries(told.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, each]) => {
    const body = each.requestBody?.content?.["application/json"];
    return h("section", { id: each.operationId }, h("h2", {}, h("code", {}, `${method.toUpperCase()} ${path}`)), h("p", {}, h("strong", {}, each.summary)), h("p", {}, each.description), table([...(each.parameters ?? []).map((one) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, one.name)), h("td", {}, type(one.schema)), h("td", {}, one.description ?? ""))), ...fields(named(body?.schema))]), h("ul", { class: "answers" }, Object.entries(each.responses).map(([status, one]) => h("li", {}, h("code", {}, status), ` ${one.description}`))));
  }));
  fill(main, h("h1", {}, told.info.title), told.info.description.split("\n\n").map((each) => h("p", {}, each.replaceAll("**", "").replaceAll("`", ""))), h("p", {}, h("a", { href: "/openapi.json" }, "/openapi.json")), operations);
} catch (error) {
  fill(main, problem(error));
}
