from chalicelib.domain.alerts.rule import AlertRule
from chalicelib.stores.searched import SEARCHED, SearchedDocuments
from chalicelib.stores.tables import document_table

AlertRuleRows = document_table("alert-rules", searched=SEARCHED)


class AlertRules(SearchedDocuments[AlertRule]):
    table, entity, noun = AlertRuleRows, AlertRule, "alert_rule"
